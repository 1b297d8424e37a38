/** `service`: the X-Service headers. `standard`: Standard Webhooks. */
export type SchemeName = 'service' | 'standard';

/** The HMAC-SHA256 of the UTF-8 bytes of `prefix` followed by the body, in hexadecimal (`service`) or base64 (`standard`). */
export type Mac<Result> = (scheme: SchemeName, secret: string, prefix: string, body: Uint8Array<ArrayBuffer>) => Result;

export const secretPrefix = 'whsec_';

/** Returns what precedes the body in the signed content. `id` is null for the X-Service scheme, which does not sign it. */
export function contentPrefix(id: string | null, timestamp: string): string {
  return id === null ? `${timestamp}.` : `${id}.${timestamp}.`;
}

/** The first and the last time in Unix seconds with ten digits. */
export const minTimestamp = 1_000_000_000;
export const maxTimestamp = 9_999_999_999;

/** Requires exactly ten digits, so that `<timestamp>.<body>` can be split in only one way. */
export function isTimestamp(value: string): boolean {
  return /^\d{10}$/.test(value);
}

const maxIdLength = 256;
const [exclamationMark, comma, dot, tilde] = [0x21, 0x2c, 0x2e, 0x7e];

/**
 * Returns true for 1 to 256 characters of visible ASCII without the dot, which separates the id from the timestamp, and the
 * comma, which joins repeated headers. The loop takes half the time of a pattern.
 */
export function isWebhookId(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > maxIdLength) return false;
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if (code < exclamationMark || code > tilde || code === comma || code === dot) return false;
  }
  return true;
}
