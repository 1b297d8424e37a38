import { toBase64, toHex } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';
import { rawBody } from './raw-body.ts';
import { isTimestamp, isWebhookId, type Message, serviceContentPrefix, standardContentPrefix } from './schemes.ts';
import { secretKeys } from './webhook-secret.ts';

export interface SignWebhookOptions {
  /** The `webhook-id`, the same for every attempt: 1 to 256 visible ASCII characters other than dot and comma. */
  id: string;
  /** The time of this attempt in Unix seconds. */
  timestamp: number;
  /** The bytes to send. A string is encoded as UTF-8. */
  body: string | Uint8Array;
  secret: string;
  /** The new secret during a rotation; both secrets then sign. */
  nextSecret?: string | undefined;
}

/** The headers of both schemes, with lower-case names. The `-next` header is present only during a rotation. */
export type WebhookHeaders = {
  'x-service-webhook-signature': string;
  'x-service-webhook-signature-next'?: string;
  'x-service-webhook-timestamp': string;
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
};

/** One value per scheme. */
export interface SchemePair<Value> {
  readonly service: Value;
  readonly standard: Value;
}

/** All of signing except the HMAC, which is synchronous in Node and asynchronous in WebCrypto. */
export interface Signing {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly current: SchemePair<Message>;
  /** Null outside a rotation. */
  readonly next: SchemePair<Message> | null;
  /** Builds the headers from the MACs of `current` and `next`. */
  readonly headers: (current: SchemePair<Uint8Array>, next: SchemePair<Uint8Array> | null) => WebhookHeaders;
}

/**
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW` or
 * `SECRET_INVALID`.
 */
export function prepareSigning({ id, timestamp, body, secret, nextSecret }: SignWebhookOptions): Signing {
  if (!isWebhookId(id)) {
    throw new WebhookUsageError(
      'ID_INVALID',
      'The id must consist of 1 to 256 visible ASCII characters other than dot and comma.',
    );
  }
  const seconds = String(timestamp);
  if (typeof timestamp !== 'number' || !isTimestamp(seconds)) {
    throw new WebhookUsageError(
      'TIMESTAMP_INVALID',
      'The timestamp must be a whole number of Unix seconds with ten digits. Convert milliseconds to seconds.',
    );
  }
  const messages = (webhookSecret: string): SchemePair<Message> => {
    const keys = secretKeys(webhookSecret);
    return {
      service: { key: keys.text, prefix: serviceContentPrefix(seconds) },
      standard: { key: keys.decoded, prefix: standardContentPrefix(id, seconds) },
    };
  };
  return {
    body: rawBody(body),
    current: messages(secret),
    next: nextSecret === undefined ? null : messages(nextSecret),
    headers: (current, next) => ({
      'x-service-webhook-signature': toHex(current.service),
      ...(next && { 'x-service-webhook-signature-next': toHex(next.service) }),
      'x-service-webhook-timestamp': seconds,
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': [current, ...(next ? [next] : [])].map((macs) => `v1,${toBase64(macs.standard)}`).join(' '),
    }),
  };
}
