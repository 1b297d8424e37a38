import { timingSafeEqual } from 'node:crypto';
import { hmac } from './hmac.ts';
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

/**
 * Returns the headers of one attempt: those of Standard Webhooks, and with a prefix the service's own.
 *
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW`, `SECRET_INVALID` or
 * `PREFIX_INVALID`.
 */
export function signWebhook(options: SignWebhookOptions): WebhookHeaders {
  return signatureHeaders(options, signing(options, hmac));
}

/**
 * Verifies that the request is authentic and recent. The request must have the headers of Standard Webhooks, or with a prefix those of at
 * least one scheme. For each scheme that it has, every header must be well formed and a signature must match.
 *
 * @throws {WebhookVerificationError} when the request fails verification; `code` is the reason.
 * @throws {WebhookUsageError} when an argument is invalid.
 */
export function verifyWebhook(options: VerifyWebhookOptions): VerifiedWebhook {
  const verification = prepareVerification(options);
  for (const check of verification.checks) {
    if (!matches(check, verification)) throw signatureMismatch(check);
  }
  return verification.verified;
}

function matches({ scheme, prefix }: Check, { body, secrets }: Verification): boolean {
  for (const secret of secrets) {
    const expected = hmac(scheme.name, secret, prefix, body);
    for (const signature of scheme.signatures) {
      if (equalInConstantTime(scheme.name, signature, expected)) return true;
    }
  }
  return false;
}

// Reused, because allocating two buffers costs more than comparing them.
const compared = {
  service: [Buffer.alloc(64), Buffer.alloc(64)],
  standard: [Buffer.alloc(44), Buffer.alloc(44)],
} as const;

/**
 * Compares two signatures in the encoding of the scheme, which has a fixed length. Equal texts are equal signatures, because
 * both encodings are canonical.
 */
function equalInConstantTime(scheme: SchemeName, a: string, b: string): boolean {
  const [left, right] = compared[scheme];
  left.write(a, 'latin1');
  right.write(b, 'latin1');
  return timingSafeEqual(left, right);
}
