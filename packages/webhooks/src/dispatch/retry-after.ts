/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP-date.
 *
 * @returns milliseconds from `nowMs`, not negative; null if the header is missing or has another format
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1_000;
  // Only the format that servers must send. `Date.parse` accepts many other strings.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
