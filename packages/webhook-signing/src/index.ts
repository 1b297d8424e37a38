import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Message } from './schemes.ts';
import { prepareSigning, type SchemePair, type SignWebhookOptions, type WebhookHeaders } from './sign.ts';
import { prepareVerification, signatureMismatch, type VerifiedWebhook, type VerifyWebhookOptions } from './verify.ts';

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

/**
 * Returns the headers of both schemes for one attempt.
 *
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW` or
 * `SECRET_INVALID`.
 */
export function signWebhook(options: SignWebhookOptions): WebhookHeaders {
  const { body, current, next, headers } = prepareSigning(options);
  const macs = ({ service, standard }: SchemePair<Message>): SchemePair<Uint8Array> => ({
    service: hmac(service, body),
    standard: hmac(standard, body),
  });
  return headers(macs(current), next && macs(next));
}

/**
 * Verifies that the request is authentic and recent. The request must have the headers of at least one scheme. For each
 * scheme that it has, every header must be well formed and a signature must match.
 *
 * @throws {WebhookVerificationError} when the request fails verification; `code` is the reason.
 * @throws {WebhookUsageError} when an argument is invalid.
 */
export function verifyWebhook(options: VerifyWebhookOptions): VerifiedWebhook {
  const { body, checks, verified } = prepareVerification(options);
  for (const check of checks) {
    const matches = check.messages.some((message) => {
      const expected = hmac(message, body);
      return check.signatures.some((signature) => timingSafeEqual(signature, expected));
    });
    if (!matches) throw signatureMismatch(check);
  }
  return verified;
}

function hmac({ key, prefix }: Message, body: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(prefix, 'utf8').update(body).digest();
}
