/** The input of one HMAC-SHA256. The signed content is the UTF-8 bytes of `prefix` followed by the body. */
export interface Message {
  readonly key: Uint8Array<ArrayBuffer>;
  readonly prefix: string;
}

export function serviceContentPrefix(timestamp: string): string {
  return `${timestamp}.`;
}

/** Standard Webhooks, section "Signature scheme". */
export function standardContentPrefix(id: string, timestamp: string): string {
  return `${id}.${timestamp}.`;
}

/** Requires exactly ten digits, so that `<timestamp>.<body>` can be split in only one way. */
export function isTimestamp(value: string): boolean {
  return /^\d{10}$/.test(value);
}

// Visible ASCII without the dot, which separates the id from the timestamp, and the comma, which joins repeated headers.
const idPattern = /^[!-+\-/-~]{1,256}$/;

export function isWebhookId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}
