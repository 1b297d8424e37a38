import { toBase64, toHex } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';
import { rawBody } from './raw-body.ts';
import { isTimestamp, isWebhookId, type Message, serviceContentPrefix, standardContentPrefix } from './schemes.ts';
import { secretKeys } from './webhook-secret.ts';

export interface SignWebhookOptions {
  /** The `webhook-id`: the same on every attempt. 1 to 256 visible ASCII characters, no dot, no comma. */
  id: string;
  /** Unix seconds of this attempt. */
  timestamp: number;
  /** The bytes that are sent; a string stands for its UTF-8 bytes. */
  body: string | Uint8Array;
  secret: string;
  /** During a rotation: the secret that takes over. Both then sign. */
  nextSecret?: string | undefined;
}

/** Headers of both schemes, names in lower case. The `-next` header is there during a rotation only. */
export type WebhookHeaders = {
  'x-service-webhook-signature': string;
  'x-service-webhook-signature-next'?: string;
  'x-service-webhook-timestamp': string;
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
};

/** One of each scheme: what to compute with one secret, or what came out. */
export interface SchemePair<Value> {
  readonly service: Value;
  readonly standard: Value;
}

/** Everything about signing but the HMAC, which is synchronous in Node and asynchronous in WebCrypto. */
export interface Signing {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly current: SchemePair<Message>;
  /** null outside a rotation */
  readonly next: SchemePair<Message> | null;
  /** From the MACs of `current` and `next`. */
  readonly headers: (current: SchemePair<Uint8Array>, next: SchemePair<Uint8Array> | null) => WebhookHeaders;
}

/** @throws WebhookUsageError `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW`, `SECRET_INVALID` */
export function prepareSigning({ id, timestamp, body, secret, nextSecret }: SignWebhookOptions): Signing {
  if (!isWebhookId(id)) {
    throw new WebhookUsageError(
      'ID_INVALID',
      'The id must be 1 to 256 visible ASCII characters without dot and comma.',
    );
  }
  const seconds = String(timestamp);
  if (typeof timestamp !== 'number' || !isTimestamp(seconds)) {
    throw new WebhookUsageError(
      'TIMESTAMP_INVALID',
      'The timestamp must be a whole number of Unix seconds, ten digits. Is it in milliseconds?',
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
