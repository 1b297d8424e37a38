import { WebhookUsageError, WebhookVerificationError } from './errors.ts';
import { rawBody } from './raw-body.ts';
import { readSchemes, type ReceivedScheme, type WebhookRequestHeaders } from './received-headers.ts';
import { type Message, serviceContentPrefix, standardContentPrefix } from './schemes.ts';
import { secretKeys } from './webhook-secret.ts';

export interface VerifyWebhookOptions {
  headers: WebhookRequestHeaders;
  /** The bytes as they came, before any parser; a string stands for its UTF-8 bytes. */
  body: string | Uint8Array;
  /** One secret, or during a rotation the old and the new one: either may have signed. */
  secret: string | readonly string[];
  /** Default: the clock. */
  now?: Date | undefined;
  /** How far the timestamp may be from `now`, either way, inclusive. Default 300. */
  toleranceSeconds?: number | undefined;
}

export interface VerifiedWebhook {
  /** The `webhook-id`, the same on every attempt; null when only the X-Service headers came. */
  id: string | null;
  /** When the request was signed, to the second. */
  timestamp: Date;
}

/** One scheme of the request: any key over any of the signatures will do. */
export interface Check {
  readonly scheme: ReceivedScheme['name'];
  readonly messages: readonly Message[];
  /** Each 32 bytes. */
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** Everything about verifying but the HMAC, which is synchronous in Node and asynchronous in WebCrypto. */
export interface Verification {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Every one of them must match. */
  readonly checks: readonly Check[];
  readonly verified: VerifiedWebhook;
}

/** Arguments first, then the headers' form, then the time; the signatures are the engine's. */
export function prepareVerification({
  headers,
  body,
  secret,
  now = new Date(),
  toleranceSeconds = 300,
}: VerifyWebhookOptions): Verification {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0) throw new WebhookUsageError('SECRET_INVALID', 'The list of secrets is empty.');
  const keys = secrets.map(secretKeys);
  const bytes = rawBody(body);
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) {
    throw new WebhookUsageError('TOLERANCE_INVALID', 'The tolerance must be a number of seconds, 0 or more.');
  }
  const schemes = readSchemes(headers);
  const [{ timestamp }] = schemes;
  checkAge(Number(timestamp), now, toleranceSeconds);
  return {
    body: bytes,
    checks: schemes.map((scheme) => ({
      scheme: scheme.name,
      messages: keys.map(({ text, decoded }) =>
        scheme.id === null
          ? { key: text, prefix: serviceContentPrefix(scheme.timestamp) }
          : { key: decoded, prefix: standardContentPrefix(scheme.id, scheme.timestamp) },
      ),
      signatures: scheme.signatures,
    })),
    verified: {
      id: schemes.find(({ id }) => id !== null)?.id ?? null,
      timestamp: new Date(Number(timestamp) * 1000),
    },
  };
}

export function signatureMismatch({ scheme }: Check): WebhookVerificationError {
  return new WebhookVerificationError(
    'SIGNATURE_MISMATCH',
    `No ${scheme} signature matches. Usual causes: the secret is another subscription's or was rotated, or the body is not byte for byte the one received (parsed and serialized again, or decoded).`,
  );
}

function checkAge(timestamp: number, now: Date, toleranceSeconds: number): void {
  // Whole seconds, as the timestamp has.
  const ageSeconds = Math.floor(now.getTime() / 1000) - timestamp;
  if (Number.isNaN(ageSeconds)) throw new WebhookUsageError('NOW_INVALID', 'now is not a valid Date.');
  if (ageSeconds > toleranceSeconds) {
    throw new WebhookVerificationError(
      'TIMESTAMP_TOO_OLD',
      `The request was signed ${ageSeconds} s ago, more than the ${toleranceSeconds} s tolerated: a replay, or this clock is fast.`,
    );
  }
  if (-ageSeconds > toleranceSeconds) {
    throw new WebhookVerificationError(
      'TIMESTAMP_TOO_NEW',
      `The request was signed ${-ageSeconds} s in the future, more than the ${toleranceSeconds} s tolerated: this clock is slow.`,
    );
  }
}
