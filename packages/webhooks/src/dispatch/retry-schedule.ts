const firstDelayMs = 5_000;
const factor = 3;
const jitterShare = 0.2;

/** The longest delay before jitter, and the longest that a receiver can ask for. */
export const retryDelayMaxMs = 12 * 60 * 60 * 1_000;

/** More than the longest delay of a retry, 14.4 h. */
export const retriedWithinMs = 15 * 60 * 60 * 1_000;

/** The maximum number of attempts of a delivery. With these delays they take about three days. */
export const attemptsMax = 15;

/**
 * Returns the delay after a failed attempt, in milliseconds: 5 s, then three times as long after each failure, at most 12 h.
 * A receiver can ask for a longer delay, up to 12 h. Jitter adds up to 20 %, so that deliveries that failed together are not
 * all retried at the same moment.
 *
 * @param attempt the number of the attempt that failed, from 1
 * @param retryAfterMs the delay that the receiver asked for; 0 if it did not
 * @param random from 0 (inclusive) to 1 (exclusive)
 */
export function retryDelayMs(attempt: number, retryAfterMs: number, random: number): number {
  const ownMs = Math.min(firstDelayMs * factor ** (attempt - 1), retryDelayMaxMs);
  const delayMs = Math.min(Math.max(ownMs, retryAfterMs), retryDelayMaxMs);
  return Math.ceil(delayMs * (1 + jitterShare * random));
}

/** An attempt of a delivery whose earlier attempts failed at once. */
export interface ScheduledAttempt {
  /** From 1. */
  attempt: number;
  /** From the previous attempt, without jitter. 0 for the first one. */
  delayMs: number;
  /** From the first attempt, without jitter. */
  earliestMs: number;
  /** From the first attempt, with the longest jitter. */
  latestMs: number;
}

/** Every attempt of a delivery, for the documentation. */
export function retrySchedule(): ScheduledAttempt[] {
  const schedule: ScheduledAttempt[] = [];
  let [earliestMs, latestMs] = [0, 0];
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const delayMs = attempt === 1 ? 0 : retryDelayMs(attempt - 1, 0, 0);
    earliestMs += delayMs;
    latestMs += attempt === 1 ? 0 : retryDelayMs(attempt - 1, 0, 1);
    schedule.push({ attempt, delayMs, earliestMs, latestMs });
  }
  return schedule;
}
