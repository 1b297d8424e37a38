import { WebhookUsageError, WebhookVerificationError } from './errors.ts';
import { type SchemeName, timestampPattern, webhookIdPattern } from './schemes.ts';
import { type ServiceHeaderNames, serviceHeaderNames, standardFields } from './service-headers.ts';

/** Node's `request.headers`, or a fetch `Headers` object. Names are case-insensitive. */
export type WebhookRequestHeaders = HeadersObject | Readonly<Record<string, string | readonly string[] | undefined>>;

interface HeadersObject {
  get(name: string): string | null;
}

/** The well-formed headers of one scheme. */
export interface ReceivedScheme {
  readonly name: SchemeName;
  /** The name in error messages. */
  readonly title: string;
  /** Ten digits. */
  readonly timestamp: string;
  /** Null for the service's own scheme, which does not sign an id. */
  readonly id: string | null;
  /** Each is the hexadecimal (the service's own) or base64 (Standard Webhooks) of 32 bytes. One of them must match. */
  readonly signatures: readonly string[];
}

/**
 * Returns the schemes of which the request has headers, at least one. All have the same timestamp.
 *
 * @param prefix of the service's own headers. Undefined: they are not read.
 * @throws {WebhookUsageError} when an argument is invalid: `HEADERS_INVALID` or `PREFIX_INVALID`.
 * @throws {WebhookVerificationError} when the headers of a request are incomplete or malformed: `SIGNATURE_MISSING`,
 * `HEADER_MISSING`, `HEADER_MALFORMED` or `TIMESTAMP_CONFLICT`.
 */
export function readSchemes(
  headers: WebhookRequestHeaders,
  prefix: string | undefined,
): readonly [ReceivedScheme, ...ReceivedScheme[]] {
  const names = prefix === undefined ? null : serviceHeaderNames(prefix);
  const received = receivedHeaders(headers, names);
  const service = prefix === undefined || names === null ? null : serviceScheme(received, prefix, names);
  const [scheme, other] = [service, standardScheme(received)].filter((each) => each !== null);
  if (scheme === undefined) {
    throw new WebhookVerificationError(
      'SIGNATURE_MISSING',
      names === null
        ? 'The request has no webhook-signature. Check your proxies.'
        : `The request has neither ${names.signature} nor webhook-signature. Check your proxies.`,
    );
  }
  if (other === undefined) return [scheme];
  if (scheme.timestamp === other.timestamp) return [scheme, other];
  throw new WebhookVerificationError(
    'TIMESTAMP_CONFLICT',
    `${names?.timestamp} is ${scheme.timestamp} but webhook-timestamp is ${other.timestamp}.`,
  );
}

function serviceScheme(received: ReceivedHeaders, prefix: string, names: ServiceHeaderNames): ReceivedScheme | null {
  const signature = single(received, names.signature);
  const nextSignature = single(received, names.nextSignature);
  const timestamp = single(received, names.timestamp);
  if (signature === null && nextSignature === null && timestamp === null) return null;
  return {
    name: 'service',
    title: prefix,
    timestamp: wellFormed(names.timestamp, timestamp, ...timestampRule),
    id: null,
    signatures: [
      wellFormed(names.signature, signature, ...hexRule),
      ...(nextSignature === null ? [] : [wellFormed(names.nextSignature, nextSignature, ...hexRule)]),
    ],
  };
}

function standardScheme(received: ReceivedHeaders): ReceivedScheme | null {
  const signature = single(received, 'webhook-signature');
  const id = single(received, 'webhook-id');
  const timestamp = single(received, 'webhook-timestamp');
  if (signature === null && id === null && timestamp === null) return null;
  return {
    name: 'standard',
    title: 'Standard Webhooks',
    timestamp: wellFormed('webhook-timestamp', timestamp, ...timestampRule),
    id: wellFormed('webhook-id', id, ...idRule),
    signatures: v1Signatures(wellFormed('webhook-signature', signature, ...entriesRule)),
  };
}

/** What the value of a header must match, and how a message says it. */
type Rule = readonly [pattern: RegExp, rule: string];

const timestampRule: Rule = [timestampPattern, 'must consist of ten digits'];
const idRule: Rule = [webhookIdPattern, 'must consist of 1 to 256 visible ASCII characters without dot and comma'];
const hexRule: Rule = [/^[0-9a-f]{64}$/, 'must consist of 64 lowercase hexadecimal digits'];
const entriesRule: Rule = [
  /^v\d+[a-z]*,[^\s,]+(?: v\d+[a-z]*,[^\s,]+)*$/,
  'must be "v1,<base64>" entries with single spaces between',
];
// The canonical base64 of 32 bytes: the last two bits before the padding are zero.
const v1Pattern = /^v1,[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

function v1Signatures(value: string): readonly string[] {
  // Entries of another version, such as the asymmetric `v1a`, are not made with this secret.
  const entries = value.split(' ').filter((entry) => entry.startsWith('v1,'));
  if (entries.length === 0) throw malformed('webhook-signature', 'has no v1 entry');
  if (!entries.every((entry) => v1Pattern.test(entry)))
    throw malformed('webhook-signature', 'has a v1 entry that is not the base64 of 32 bytes');
  return entries.map((entry) => entry.slice('v1,'.length));
}

function wellFormed(name: string, value: string | null, ...[pattern, rule]: Rule): string {
  if (value === null) {
    throw new WebhookVerificationError(
      'HEADER_MISSING',
      `${name} is missing, but others of its scheme are present. Check your proxies.`,
    );
  }
  if (!pattern.test(value)) throw malformed(name, rule);
  return value;
}

function malformed(name: string, problem: string): WebhookVerificationError {
  return new WebhookVerificationError('HEADER_MALFORMED', `${name} ${problem}.`);
}

/** Undefined or null for a missing header, an array for one that occurs more than once. */
type HeaderValue = string | readonly string[] | null | undefined;

/** By the names in messages. */
type ReceivedHeaders = Map<string, HeaderValue>;

/** @param names of the service's own headers */
function receivedHeaders(headers: WebhookRequestHeaders, names: ServiceHeaderNames | null): ReceivedHeaders {
  if (typeof headers !== 'object' || headers === null) {
    throw new WebhookUsageError('HEADERS_INVALID', 'The headers must be a Headers object or an object.');
  }
  const fields = names?.fields ?? standardFields;
  const received: ReceivedHeaders = new Map();
  if (isHeadersObject(headers)) {
    for (const [name, field] of fields) received.set(field, headers.get(name));
    return received;
  }
  for (const name of Object.keys(headers)) {
    const field = fields.get(name.toLowerCase());
    // Others are not checked: some platforms pass numbers, for example as `content-length`.
    if (field === undefined) continue;
    const value: unknown = headers[name];
    if (value === undefined) continue;
    received.set(field, joined(received.get(field), typeof value === 'string' ? value : stringArray(name, value)));
  }
  return received;
}

function isHeadersObject(headers: WebhookRequestHeaders): headers is HeadersObject {
  return typeof headers.get === 'function';
}

function stringArray(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new WebhookUsageError('HEADERS_INVALID', `The header ${name} must be a string or an array of strings.`);
}

function joined(before: HeaderValue, value: string | readonly string[]): HeaderValue {
  return before === undefined || before === null ? value : [before, value].flat();
}

function single(received: ReceivedHeaders, name: string): string | null {
  const value = received.get(name) ?? null;
  if (value === null || typeof value === 'string') return value;
  if (value.length > 1) throw malformed(name, 'occurs more than once');
  return value[0] ?? null;
}
