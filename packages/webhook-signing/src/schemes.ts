/** What one HMAC-SHA256 is computed over: the UTF-8 bytes of `prefix`, then the body. */
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

/** Ten digits, no more and no fewer: `<timestamp>.<body>` must not be readable in two ways. */
export function isTimestamp(value: string): boolean {
  return /^\d{10}$/.test(value);
}

// Visible ASCII. Without the dot, which separates id from timestamp, and the comma, which joins a repeated header.
const idPattern = /^[!-+\-/-~]{1,256}$/;

export function isWebhookId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}
