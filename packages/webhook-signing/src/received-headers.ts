import { fromCanonicalBase64, fromHex } from './encoding.ts';
import { WebhookUsageError, WebhookVerificationError } from './errors.ts';
import { isTimestamp, isWebhookId } from './schemes.ts';

/** `request.headers` as Node has them, or a fetch `Headers`. Names count in any case. */
export type WebhookRequestHeaders = HeadersObject | Readonly<Record<string, string | readonly string[] | undefined>>;

interface HeadersObject {
  get(name: string): string | null;
}

/** The headers of one scheme, each well formed. */
export interface ReceivedScheme {
  readonly name: 'Standard Webhooks' | 'X-Service';
  /** Ten digits. */
  readonly timestamp: string;
  /** null in the X-Service scheme, which signs none */
  readonly id: string | null;
  /** Each 32 bytes. One suffices. */
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * The schemes that the request carries headers of, at least one, and all of one moment.
 * @throws WebhookUsageError `HEADERS_INVALID`; WebhookVerificationError `SIGNATURE_MISSING`, `HEADER_MISSING`, `HEADER_MALFORMED`, `TIMESTAMP_CONFLICT`
 */
export function readSchemes(headers: WebhookRequestHeaders): readonly [ReceivedScheme, ...ReceivedScheme[]] {
  const read = headerReader(headers);
  const [first, second] = [serviceScheme(read), standardScheme(read)].filter((scheme) => scheme !== null);
  if (first === undefined) {
    throw new WebhookVerificationError(
      'SIGNATURE_MISSING',
      'The request has neither X-Service-Webhook-Signature nor webhook-signature. Are these the headers of the request, and does a proxy keep them?',
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
  if (!isTimestamp(timestamp)) throw malformed(name, 'is not ten digits');
  return timestamp;
}

function wellFormedId(id: string): string {
  if (!isWebhookId(id)) throw malformed('webhook-id', 'is not 1 to 256 visible ASCII characters without dot and comma');
  return id;
}

function hexSignature(name: string, value: string): Uint8Array<ArrayBuffer> {
  if (!/^[0-9a-f]{64}$/.test(value)) throw malformed(name, 'is not 64 lowercase hexadecimal digits');
  return fromHex(value);
}

function v1Signatures(value: string): readonly Uint8Array<ArrayBuffer>[] {
  const signatures = [];
  for (const entry of value.split(' ')) {
    if (!/^v\d+[a-z]*,[^\s,]+$/.test(entry))
      throw malformed('webhook-signature', 'is not a list of "v1,<base64>" with one space between');
    // Another version (`v1a` is asymmetric) may stand beside ours; it says nothing about this secret.
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
    `${name} is missing, while other headers of its scheme are there. Does a proxy drop it?`,
  );
}

function malformed(name: string, problem: string): WebhookVerificationError {
  return new WebhookVerificationError('HEADER_MALFORMED', `${name} ${problem}.`);
}

function headerReader(headers: WebhookRequestHeaders): HeaderReader {
  if (typeof headers !== 'object' || headers === null) {
    throw new WebhookUsageError(
      'HEADERS_INVALID',
      'The headers must be a Headers object, or an object from names to values.',
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
    if (others.length > 0) throw malformed(name, 'is there more than once');
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
    `The value of the header ${JSON.stringify(name)} is neither a string nor an array of strings.`,
  );
}
