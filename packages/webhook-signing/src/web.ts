import { utf8 } from './encoding.ts';
import type { Message } from './schemes.ts';
import { prepareSigning, type SchemePair, type SignWebhookOptions, type WebhookHeaders } from './sign.ts';
import {
  type Check,
  prepareVerification,
  signatureMismatch,
  type VerifiedWebhook,
  type VerifyWebhookOptions,
} from './verify.ts';

export {
  WebhookUsageError,
  type WebhookUsageErrorCode,
  WebhookVerificationError,
  type WebhookVerificationErrorCode,
} from './errors.ts';
export type { WebhookRequestHeaders } from './received-headers.ts';
export type { SignWebhookOptions, WebhookHeaders } from './sign.ts';
export type { VerifiedWebhook, VerifyWebhookOptions } from './verify.ts';
export { generateWebhookSecret, isWebhookSecret } from './webhook-secret.ts';

const hmacSha256 = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Returns the headers of both schemes for one attempt.
 *
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW` or
 * `SECRET_INVALID`.
 */
export async function signWebhook(options: SignWebhookOptions): Promise<WebhookHeaders> {
  const { body, current, next, headers } = prepareSigning(options);
  const macs = async ({ service, standard }: SchemePair<Message>): Promise<SchemePair<Uint8Array>> => ({
    service: await hmac(service, body),
    standard: await hmac(standard, body),
  });
  return headers(await macs(current), next && (await macs(next)));
}

/**
 * Verifies that the request is authentic and recent. The request must have the headers of at least one scheme. For each
 * scheme that it has, every header must be well formed and a signature must match.
 *
 * @throws {WebhookVerificationError} when the request fails verification; `code` is the reason.
 * @throws {WebhookUsageError} when an argument is invalid.
 */
export async function verifyWebhook(options: VerifyWebhookOptions): Promise<VerifiedWebhook> {
  const { body, checks, verified } = prepareVerification(options);
  for (const check of checks) {
    if (!(await matches(check, body))) throw signatureMismatch(check);
  }
  return verified;
}

async function matches({ messages, signatures }: Check, body: Uint8Array): Promise<boolean> {
  for (const message of messages) {
    const key = await crypto.subtle.importKey('raw', message.key, hmacSha256, false, ['verify']);
    const content = signedContent(message, body);
    for (const signature of signatures) {
      // WebCrypto compares in constant time; a comparison written in JavaScript cannot guarantee that.
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return true;
    }
  }
  return false;
}

async function hmac(message: Message, body: Uint8Array): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', message.key, hmacSha256, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, signedContent(message, body)));
}

function signedContent({ prefix }: Message, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = utf8(prefix);
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  return content;
}
