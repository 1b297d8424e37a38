import type { AttemptResult } from '@deedwire/webhook-sender';
import { parseRetryAfter } from './retry-after.ts';
import { attemptsMax, retryDelayMaxMs, retryDelayMs } from './retry-delay.ts';

/** What happens to a delivery after an attempt. */
export type NextStep =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'retry'; readonly delayMs: number };

/** What an attempt means for its delivery and for its lane. */
export interface AttemptClassification {
  readonly next: NextStep;
  /** How long the receiver asked to receive no requests at all. Null if it did not. */
  readonly holdMs: number | null;
  /** The response had a `Retry-After` that is not valid. */
  readonly isRetryAfterIgnored: boolean;
  /** The receiver responded 410 Gone, so the subscription is paused. */
  readonly isGone: boolean;
}

// Shared: every attempt is classified.
export const delivered: NextStep = Object.freeze({ kind: 'delivered' });
export const failed: NextStep = Object.freeze({ kind: 'failed' });
const success: AttemptClassification = Object.freeze({
  next: delivered,
  holdMs: null,
  isRetryAfterIgnored: false,
  isGone: false,
});

const gone = 410;
const overloaded: ReadonlySet<number | null> = new Set([429, 503]);

/**
 * Classifies an attempt. A status counts only if the response was complete.
 *
 * @param attempt the number of this attempt since the delivery was queued, from 1
 * @param nowMs database time, to which a date in `Retry-After` refers
 * @param random from 0 (inclusive) to 1 (exclusive), for the jitter of the retry
 */
export function classifyAttempt(
  result: AttemptResult,
  attempt: number,
  nowMs: number,
  random: () => number,
): AttemptClassification {
  const status = result.error === null ? result.responseStatus : null;
  if (status !== null && status >= 200 && status <= 299) return success;
  const retryAfterMs = parseRetryAfter(result.retryAfter, nowMs);
  return {
    next: attempt >= attemptsMax ? failed : { kind: 'retry', delayMs: retryDelayMs(attempt, retryAfterMs, random()) },
    holdMs: overloaded.has(status) && retryAfterMs !== null ? Math.min(retryAfterMs, retryDelayMaxMs) : null,
    isRetryAfterIgnored: result.retryAfter !== null && retryAfterMs === null,
    isGone: status === gone,
  };
}
