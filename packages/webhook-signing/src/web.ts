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
 * The headers of both schemes for one attempt.
 * @throws WebhookUsageError `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW`, `SECRET_INVALID`
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
 * Returns when the request is authentic and fresh. At least one scheme must be there; of each that is there, every
 * header must be well formed and a signature must match.
 * @throws WebhookVerificationError when it is not (its `code` says why); WebhookUsageError when the call is wrong
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
      // Compares in constant time, which JavaScript of our own could not promise.
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
