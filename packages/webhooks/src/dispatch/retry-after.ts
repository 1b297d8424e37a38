/** The three forms of an HTTP-date (RFC 9110, section 5.6.7). `Date.parse` accepts many other strings. */
const httpDate =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP-date. Of several, as a proxy in front of a server
 * adds one, the longest counts.
 *
 * @returns milliseconds from `nowMs`, not negative; null if the header is missing or a value has another format
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  // A comma within a date precedes a day and a month.
  const waits = value.split(/,(?! \d{2}[ -][A-Z])/).map((each) => parseOne(each.trim(), nowMs));
  return waits.reduce((longest, wait) => (longest === null || wait === null ? null : Math.max(longest, wait)), 0);
}

function parseOne(value: string, nowMs: number): number | null {
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1_000;
  if (!httpDate.test(value)) return null;
  // The third form has no time zone: it is UTC.
  const atMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
