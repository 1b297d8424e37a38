import { WebhookUsageError } from './errors.ts';
import { rawBody } from './raw-body.ts';
import { contentPrefix, maxTimestamp, minTimestamp, type Mac, webhookIdPattern } from './schemes.ts';
import { checkSecret } from './webhook-secret.ts';

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

/** All of signing except the MACs, which are synchronous in Node and asynchronous in WebCrypto. */
export interface Signing<MacResult> {
  /** The timestamp as in the headers. */
  readonly seconds: string;
  readonly service: MacResult;
  readonly standard: MacResult;
  /** Null outside a rotation, as `nextStandard`. */
  readonly nextService: MacResult | null;
  readonly nextStandard: MacResult | null;
}

/**
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW` or
 * `SECRET_INVALID`.
 */
export function signing<MacResult>(
  { id, timestamp, body, secret, nextSecret }: SignWebhookOptions,
  mac: Mac<MacResult>,
): Signing<MacResult> {
  if (typeof id !== 'string' || !webhookIdPattern.test(id)) {
    throw new WebhookUsageError(
      'ID_INVALID',
      'The id must consist of 1 to 256 visible ASCII characters other than dot and comma.',
    );
  }
  if (!Number.isInteger(timestamp) || timestamp < minTimestamp || timestamp > maxTimestamp) {
    throw new WebhookUsageError(
      'TIMESTAMP_INVALID',
      'The timestamp must be a whole number of Unix seconds with ten digits. Convert milliseconds to seconds.',
    );
  }
  const seconds = String(timestamp);
  const bytes = rawBody(body);
  checkSecret(secret);
  if (nextSecret !== undefined) checkSecret(nextSecret);
  const servicePrefix = contentPrefix(null, seconds);
  const standardPrefix = contentPrefix(id, seconds);
  return {
    seconds,
    service: mac('service', secret, servicePrefix, bytes),
    standard: mac('standard', secret, standardPrefix, bytes),
    nextService: nextSecret === undefined ? null : mac('service', nextSecret, servicePrefix, bytes),
    nextStandard: nextSecret === undefined ? null : mac('standard', nextSecret, standardPrefix, bytes),
  };
}

export function signatureHeaders(
  id: string,
  { seconds, service, standard, nextService, nextStandard }: Signing<string>,
): WebhookHeaders {
  const headers: WebhookHeaders = {
    'x-service-webhook-signature': service,
    'x-service-webhook-timestamp': seconds,
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard}`,
  };
  if (nextService !== null && nextStandard !== null) {
    headers['x-service-webhook-signature-next'] = nextService;
    headers['webhook-signature'] += ` v1,${nextStandard}`;
  }
  return headers;
}
