import type { AttemptResult } from '@deedwire/webhook-sender';
import { attemptsMax, readRetryAfter, retryDelayMs } from './retry-delay.ts';

/** What becomes of a delivery after an attempt, and of its subscription. */
export type Verdict =
  | { kind: 'delivered' }
  | { kind: 'retry'; delayMs: number; pause: 'GONE' | null }
  | { kind: 'failed'; pause: 'GONE' | null };

/** Says that the receiver will not come back (RFC 9110, 15.5.11). */
const gone = 410;

/** @param attempt the number of this attempt, from 1 */
export function classifyAttempt(outcome: AttemptResult, attempt: number, now: Date, random: number): Verdict {
  const status = outcome.error === null ? outcome.responseStatus : null;
  if (status !== null && status >= 200 && status <= 299) return { kind: 'delivered' };
  const pause = status === gone ? 'GONE' : null;
  if (attempt >= attemptsMax) return { kind: 'failed', pause };
  return { kind: 'retry', delayMs: retryDelayMs(attempt, readRetryAfter(outcome.retryAfter, now), random), pause };
}
