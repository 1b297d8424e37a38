const firstDelayMs = 5_000;
const factor = 3;
const jitterShare = 0.2;

/** The longest delay before jitter, and the longest that a receiver can ask for. */
export const retryDelayMaxMs = 12 * 60 * 60 * 1_000;

/** The maximum number of attempts of a delivery. With these delays they take about three days. */
export const attemptsMax = 15;

/**
 * Returns the delay after a failed attempt, in milliseconds: 5 s, then three times as long after each failure, at most 12 h.
 * A receiver can ask for a longer delay, up to 12 h. Jitter adds up to 20 %, so that deliveries that failed together are not
 * all retried at the same moment.
 *
 * @param attempt the number of the attempt that failed, from 1
 * @param retryAfterMs the delay that the receiver asked for; null if it did not
 * @param random from 0 (inclusive) to 1 (exclusive)
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, random: number): number {
  const ownMs = Math.min(firstDelayMs * factor ** (attempt - 1), retryDelayMaxMs);
  const delayMs = Math.min(Math.max(ownMs, retryAfterMs ?? 0), retryDelayMaxMs);
  return Math.ceil(delayMs * (1 + jitterShare * random));
}
