import { WebhookUsageError, WebhookVerificationError } from './errors.ts';
import { rawBody } from './raw-body.ts';
import { readSchemes, type ReceivedScheme, type WebhookRequestHeaders } from './received-headers.ts';
import { contentPrefix } from './schemes.ts';
import { checkSecret } from './webhook-secret.ts';

export interface VerifyWebhookOptions {
  headers: WebhookRequestHeaders;
  /** The bytes as received, before any parsing. A string is encoded as UTF-8. */
  body: string | Uint8Array;
  /** One secret, or the old and the new one during a rotation. A signature made with any of them is accepted. */
  secret: string | readonly string[];
  /** Defaults to the current time. */
  now?: Date | undefined;
  /** The largest accepted difference between the timestamp and `now`, in either direction. Defaults to 300. */
  toleranceSeconds?: number | undefined;
  /**
   * What the names of the service's own headers begin with, for example `X-Service`. Without it, these headers are not read: the request
   * must have those of Standard Webhooks.
   */
  prefix?: string | undefined;
}

export interface VerifiedWebhook {
  /** The `webhook-id`, the same for every attempt. Null if the request has only the service's own headers. */
  id: string | null;
  /** The time at which the request was signed, with a precision of one second. */
  timestamp: Date;
}

/** One scheme of the request. The check passes if any secret produces any of the signatures. */
export interface Check {
  readonly scheme: ReceivedScheme;
  /** Precedes the body in the signed content. */
  readonly prefix: string;
}

/** All of verification except the MACs, which are synchronous in Node and asynchronous in WebCrypto. */
export interface Verification {
  readonly body: Uint8Array<ArrayBuffer>;
  /** At least one, all valid. */
  readonly secrets: readonly string[];
  /** All of them must pass. */
  readonly checks: readonly Check[];
  readonly verified: VerifiedWebhook;
}

/** Checks the arguments, then the format of the headers, then the timestamp. The entry points compare the signatures. */
export function prepareVerification({
  headers,
  body,
  secret,
  now,
  toleranceSeconds = 300,
  prefix,
}: VerifyWebhookOptions): Verification {
  const secrets: readonly string[] = Array.isArray(secret) ? [...secret] : [secret];
  if (secrets.length === 0) throw new WebhookUsageError('SECRET_INVALID', 'The list of secrets is empty.');
  for (const each of secrets) checkSecret(each);
  const bytes = rawBody(body);
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw new WebhookUsageError('TOLERANCE_INVALID', 'toleranceSeconds must be 0 or more seconds.');
  }
  const schemes = readSchemes(headers, prefix);
  const [{ timestamp }] = schemes;
  checkAge(Number(timestamp), Number(now ?? Date.now()), toleranceSeconds);
  let id: string | null = null;
  const checks: Check[] = [];
  for (const scheme of schemes) {
    id ??= scheme.id;
    checks.push({ scheme, prefix: contentPrefix(scheme.id, timestamp) });
  }
  return { body: bytes, secrets, checks, verified: { id, timestamp: new Date(Number(timestamp) * 1000) } };
}

export function signatureMismatch({ scheme }: Check): WebhookVerificationError {
  return new WebhookVerificationError(
    'SIGNATURE_MISMATCH',
    `No ${scheme.title} signature matches. Check that the secret is that of this subscription, and that the body has the bytes received, not parsed or decoded.`,
  );
}

function checkAge(timestamp: number, nowMs: number, toleranceSeconds: number): void {
  // The timestamp has whole seconds, so the age is computed in whole seconds.
  const ageSeconds = Math.floor(nowMs / 1000) - timestamp;
  if (Number.isNaN(ageSeconds)) throw new WebhookUsageError('NOW_INVALID', 'now must be a valid Date.');
  if (ageSeconds > toleranceSeconds) {
    throw new WebhookVerificationError(
      'TIMESTAMP_TOO_OLD',
      `The request was signed ${ageSeconds} s ago; the tolerance is ${toleranceSeconds} s. It is a replay, or this clock is fast.`,
    );
  }
  if (-ageSeconds > toleranceSeconds) {
    throw new WebhookVerificationError(
      'TIMESTAMP_TOO_NEW',
      `The request was signed ${-ageSeconds} s in the future; the tolerance is ${toleranceSeconds} s. This clock is slow.`,
    );
  }
}
