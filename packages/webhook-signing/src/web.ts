import { fromBase64, fromHex, toBase64, toHex, utf8 } from './encoding.ts';
import type { SchemeName } from './schemes.ts';
import { signatureHeaders, signing, type SignWebhookOptions, type WebhookHeaders } from './sign.ts';
import {
  type Check,
  prepareVerification,
  signatureMismatch,
  type Verification,
  type VerifiedWebhook,
  type VerifyWebhookOptions,
} from './verify.ts';
import { secretKey } from './webhook-secret.ts';

export {
  WebhookUsageError,
  type WebhookUsageErrorCode,
  WebhookVerificationError,
  type WebhookVerificationErrorCode,
} from './errors.ts';
export type { WebhookRequestHeaders } from './received-headers.ts';
export type { SignWebhookOptions, WebhookHeaders } from './sign.ts';
export type { VerifiedWebhook, VerifyWebhookOptions } from './verify.ts';
export { generateWebhookSecret, isWebhookSecret, webhookSecretProblem } from './webhook-secret.ts';

const hmacSha256 = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Returns the headers of one attempt: those of Standard Webhooks, and with a prefix the service's own.
 *
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW`, `SECRET_INVALID` or
 * `PREFIX_INVALID`.
 */
export async function signWebhook(options: SignWebhookOptions): Promise<WebhookHeaders> {
  const { seconds, ...macs } = signing(options, hmac);
  const [service, standard, nextService, nextStandard] = await Promise.all([
    macs.service,
    macs.standard,
    macs.nextService,
    macs.nextStandard,
  ]);
  return signatureHeaders(options, { seconds, service, standard, nextService, nextStandard });
}

/**
 * Verifies that the request is authentic and recent. The request must have the headers of Standard Webhooks, or with a prefix those of at
 * least one scheme. For each scheme that it has, every header must be well formed and a signature must match.
 *
 * @throws {WebhookVerificationError} when the request fails verification; `code` is the reason.
 * @throws {WebhookUsageError} when an argument is invalid.
 */
export async function verifyWebhook(options: VerifyWebhookOptions): Promise<VerifiedWebhook> {
  const verification = prepareVerification(options);
  for (const check of verification.checks) {
    if (!(await matches(check, verification))) throw signatureMismatch(check);
  }
  return verification.verified;
}

async function matches({ scheme, prefix }: Check, { body, secrets }: Verification): Promise<boolean> {
  const content = signedContent(prefix, body);
  for (const secret of secrets) {
    const key = await importKey(scheme.name, secret, 'verify');
    for (const signature of scheme.signatures) {
      const bytes = scheme.name === 'service' ? fromHex(signature) : fromBase64(signature);
      // WebCrypto compares in constant time; a comparison written in JavaScript cannot guarantee that.
      if (await crypto.subtle.verify('HMAC', key, bytes, content)) return true;
    }
  }
  return false;
}

async function hmac(scheme: SchemeName, secret: string, prefix: string, body: Uint8Array): Promise<string> {
  const key = await importKey(scheme, secret, 'sign');
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, signedContent(prefix, body)));
  return scheme === 'service' ? toHex(bytes) : toBase64(bytes);
}

function importKey(scheme: SchemeName, secret: string, usage: 'sign' | 'verify'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', secretKey(scheme, secret), hmacSha256, false, [usage]);
}

function signedContent(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = utf8(prefix);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  return content;
}
