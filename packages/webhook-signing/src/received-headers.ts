import { fromCanonicalBase64, fromHex } from './encoding.ts';
import { WebhookUsageError, WebhookVerificationError } from './errors.ts';
import { isTimestamp, isWebhookId } from './schemes.ts';

/** Node's `request.headers`, or a fetch `Headers` object. Names are case-insensitive. */
export type WebhookRequestHeaders = HeadersObject | Readonly<Record<string, string | readonly string[] | undefined>>;

interface HeadersObject {
  get(name: string): string | null;
}

/** The well-formed headers of one scheme. */
export interface ReceivedScheme {
  readonly name: 'Standard Webhooks' | 'X-Service';
  /** Ten digits. */
  readonly timestamp: string;
  /** Null for the X-Service scheme, which does not sign an id. */
  readonly id: string | null;
  /** Each 32 bytes. One of them must match. */
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Returns the schemes of which the request has headers, at least one. All have the same timestamp.
 *
 * @throws {WebhookUsageError} when `headers` is invalid: `HEADERS_INVALID`.
 * @throws {WebhookVerificationError} when the headers of a request are incomplete or malformed: `SIGNATURE_MISSING`,
 * `HEADER_MISSING`, `HEADER_MALFORMED` or `TIMESTAMP_CONFLICT`.
 */
export function readSchemes(headers: WebhookRequestHeaders): readonly [ReceivedScheme, ...ReceivedScheme[]] {
  const read = headerReader(headers);
  const [first, second] = [serviceScheme(read), standardScheme(read)].filter((scheme) => scheme !== null);
  if (first === undefined) {
    throw new WebhookVerificationError(
      'SIGNATURE_MISSING',
      'The request has neither X-Service-Webhook-Signature nor webhook-signature. Pass the headers of the request, and check that no proxy removes them.',
    );
  }
  if (second === undefined) return [first];
  if (first.timestamp !== second.timestamp) {
    throw new WebhookVerificationError(
      'TIMESTAMP_CONFLICT',
      `X-Service-Webhook-Timestamp is ${first.timestamp} but webhook-timestamp is ${second.timestamp}.`,
    );
  }
  return [first, second];
}

type HeaderReader = (name: string) => string | null;

function serviceScheme(read: HeaderReader): ReceivedScheme | null {
  const signature = read('X-Service-Webhook-Signature');
  const nextSignature = read('X-Service-Webhook-Signature-Next');
  const timestamp = read('X-Service-Webhook-Timestamp');
  if (signature === null && nextSignature === null && timestamp === null) return null;
  return {
    name: 'X-Service',
    timestamp: wellFormedTimestamp('X-Service-Webhook-Timestamp', timestamp),
    id: null,
    signatures: [
      hexSignature('X-Service-Webhook-Signature', present('X-Service-Webhook-Signature', signature)),
      ...(nextSignature === null ? [] : [hexSignature('X-Service-Webhook-Signature-Next', nextSignature)]),
    ],
  };
}

function standardScheme(read: HeaderReader): ReceivedScheme | null {
  const signature = read('webhook-signature');
  const id = read('webhook-id');
  const timestamp = read('webhook-timestamp');
  if (signature === null && id === null && timestamp === null) return null;
  return {
    name: 'Standard Webhooks',
    timestamp: wellFormedTimestamp('webhook-timestamp', timestamp),
    id: wellFormedId(present('webhook-id', id)),
    signatures: v1Signatures(present('webhook-signature', signature)),
  };
}

function wellFormedTimestamp(name: string, value: string | null): string {
  const timestamp = present(name, value);
  if (!isTimestamp(timestamp)) throw malformed(name, 'must consist of ten digits');
  return timestamp;
}

function wellFormedId(id: string): string {
  if (!isWebhookId(id))
    throw malformed('webhook-id', 'must consist of 1 to 256 visible ASCII characters other than dot and comma');
  return id;
}

function hexSignature(name: string, value: string): Uint8Array<ArrayBuffer> {
  if (!/^[0-9a-f]{64}$/.test(value)) throw malformed(name, 'must consist of 64 lowercase hexadecimal digits');
  return fromHex(value);
}

function v1Signatures(value: string): readonly Uint8Array<ArrayBuffer>[] {
  const signatures = [];
  for (const entry of value.split(' ')) {
    if (!/^v\d+[a-z]*,[^\s,]+$/.test(entry))
      throw malformed('webhook-signature', 'must be a list of "v1,<base64>" entries separated by single spaces');
    // Entries of another version, such as the asymmetric `v1a`, are not made with this secret.
    if (!entry.startsWith('v1,')) continue;
    const signature = fromCanonicalBase64(entry.slice('v1,'.length));
    if (signature?.length !== 32)
      throw malformed('webhook-signature', 'has a v1 entry that is not the base64 of 32 bytes');
    signatures.push(signature);
  }
  if (signatures.length === 0) throw malformed('webhook-signature', 'has no v1 entry');
  return signatures;
}

function present(name: string, value: string | null): string {
  if (value !== null) return value;
  throw new WebhookVerificationError(
    'HEADER_MISSING',
    `${name} is missing, but other headers of the same scheme are present. Check that no proxy removes it.`,
  );
}

function malformed(name: string, problem: string): WebhookVerificationError {
  return new WebhookVerificationError('HEADER_MALFORMED', `${name} ${problem}.`);
}

function headerReader(headers: WebhookRequestHeaders): HeaderReader {
  if (typeof headers !== 'object' || headers === null) {
    throw new WebhookUsageError(
      'HEADERS_INVALID',
      'The headers must be a Headers object or an object that maps names to values.',
    );
  }
  if (isHeadersObject(headers)) return (name) => headers.get(name);
  const values = new Map<string, string[]>();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const lowerCaseName = name.toLowerCase();
    values.set(lowerCaseName, [...(values.get(lowerCaseName) ?? []), ...headerValues(name, value)]);
  }
  return (name) => {
    const [value = null, ...others] = values.get(name.toLowerCase()) ?? [];
    if (others.length > 0) throw malformed(name, 'occurs more than once');
    return value;
  };
}

function isHeadersObject(headers: WebhookRequestHeaders): headers is HeadersObject {
  return typeof headers.get === 'function';
}

function headerValues(name: string, value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.every((item) => typeof item === 'string')) return values;
  throw new WebhookUsageError(
    'HEADERS_INVALID',
    `The value of the header ${JSON.stringify(name)} must be a string or an array of strings.`,
  );
}
