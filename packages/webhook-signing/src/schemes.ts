/** `service`: the service's own headers. `standard`: Standard Webhooks. */
export type SchemeName = 'service' | 'standard';

/** The HMAC-SHA256 of the UTF-8 bytes of `prefix` followed by the body, in hexadecimal (`service`) or base64 (`standard`). */
export type Mac<Result> = (scheme: SchemeName, secret: string, prefix: string, body: Uint8Array<ArrayBuffer>) => Result;

export const secretPrefix = 'whsec_';

/** Returns what precedes the body in the signed content. `id` is null for the service's own scheme, which does not sign it. */
export function contentPrefix(id: string | null, timestamp: string): string {
  return id === null ? `${timestamp}.` : `${id}.${timestamp}.`;
}

/** The first and the last time in Unix seconds with ten digits. */
export const minTimestamp = 1_000_000_000;
export const maxTimestamp = 9_999_999_999;

/** Exactly ten digits, so that `<timestamp>.<body>` can be split in only one way. */
export const timestampPattern = /^\d{10}$/;

/** Visible ASCII without the dot, which separates the id from the timestamp, and the comma, which joins repeated headers. */
export const webhookIdPattern = /^[!-+\-/-~]{1,256}$/;
