import { WebhookUsageError } from './errors.ts';
import { rawBody } from './raw-body.ts';
import { contentPrefix, maxTimestamp, minTimestamp, type Mac, webhookIdPattern } from './schemes.ts';
import { serviceHeaderNames } from './service-headers.ts';
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
  /**
   * What the names of the service's own headers begin with, for example `X-Service`. Without it, only the headers of Standard Webhooks
   * are made.
   */
  prefix?: string | undefined;
}

/**
 * The headers, with lower-case names. Those that begin with `x-` are the service's own: `-webhook-signature`, `-webhook-timestamp`, and
 * `-webhook-signature-next` during a rotation.
 */
export type WebhookHeaders = {
  [name: `x-${string}`]: string;
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
};

/** All of signing except the MACs, which are synchronous in Node and asynchronous in WebCrypto. */
export interface Signing<MacResult> {
  /** The timestamp as in the headers. */
  readonly seconds: string;
  readonly standard: MacResult;
  /** Null outside a rotation, as `nextService`. */
  readonly nextStandard: MacResult | null;
  /** Null without a prefix, as `nextService`. */
  readonly service: MacResult | null;
  readonly nextService: MacResult | null;
}

/**
 * @throws {WebhookUsageError} when an argument is invalid: `ID_INVALID`, `TIMESTAMP_INVALID`, `BODY_NOT_RAW`, `SECRET_INVALID` or
 * `PREFIX_INVALID`.
 */
export function signing<MacResult>(
  { id, timestamp, body, secret, nextSecret, prefix }: SignWebhookOptions,
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
  if (prefix !== undefined) serviceHeaderNames(prefix);
  const standardPrefix = contentPrefix(id, seconds);
  const standard = mac('standard', secret, standardPrefix, bytes);
  const nextStandard = nextSecret === undefined ? null : mac('standard', nextSecret, standardPrefix, bytes);
  if (prefix === undefined) return { seconds, standard, nextStandard, service: null, nextService: null };
  const servicePrefix = contentPrefix(null, seconds);
  const service = mac('service', secret, servicePrefix, bytes);
  const nextService = nextSecret === undefined ? null : mac('service', nextSecret, servicePrefix, bytes);
  return { seconds, standard, nextStandard, service, nextService };
}

export function signatureHeaders(
  { id, prefix }: SignWebhookOptions,
  { seconds, service, standard, nextService, nextStandard }: Signing<string>,
): WebhookHeaders {
  const signatures = nextStandard === null ? `v1,${standard}` : `v1,${standard} v1,${nextStandard}`;
  const standardHeaders = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures };
  if (prefix === undefined || service === null) return standardHeaders;
  const { lowerCase } = serviceHeaderNames(prefix);
  return {
    [lowerCase.signature]: service,
    [lowerCase.timestamp]: seconds,
    ...standardHeaders,
    ...(nextService !== null && { [lowerCase.nextSignature]: nextService }),
  };
}
