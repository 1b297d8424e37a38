const firstDelayMs = 5_000;
const factor = 3;
const maxDelayMs = 12 * 60 * 60 * 1_000;
const jitter = 0.2;

/** How many attempts a delivery gets: with these delays about three days. */
export const attemptsMax = 15;

/**
 * How long to wait after a failed attempt, in milliseconds: 5 s, three times as long each time, at most 12 h; longer, up to
 * 12 h, when the receiver asks for it; and up to a fifth more, so that many do not come back at the same moment.
 *
 * @param attempt the number of the attempt that failed, from 1
 * @param retryAfterMs what the receiver asks for; null when it does not
 * @param random 0 (inclusive) to 1 (exclusive)
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: number): number {
  const ownMs = Math.min(firstDelayMs * factor ** (attempt - 1), maxDelayMs);
  const delayMs = Math.min(Math.max(ownMs, retryAfterMs ?? 0), maxDelayMs);
  return Math.ceil(delayMs * (1 + jitter * random));
}

/**
 * Reads a `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP-date.
 *
 * @returns milliseconds from `now`, not negative; null when there is none or it is neither
 */
export function readRetryAfter(value: string | null, now: Date): number | null {
  if (value === null) return null;
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1_000;
  // Only the form that senders must use: `Date.parse` alone would read almost anything.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
