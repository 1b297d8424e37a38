import type { AttemptResult } from '@deedwire/webhook-sender';
import { attemptsMax, retryDelayMaxMs, retryDelayMs } from './retry-schedule.ts';

/** What happens to a delivery after an attempt. */
export type NextStep =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'retry'; readonly delayMs: number };

/** What an attempt means for its delivery and for its lane. */
export interface AttemptClassification {
  readonly next: NextStep;
  /** The wait until the next attempt that the receiver asked for, at most 12 h. 0 if it did not. */
  readonly retryAfterMs: number;
  /** The receiver did not respond, or responded 429 or 5xx: it may work again without a change to the delivery. */
  readonly isTransient: boolean;
  /** How long the receiver asked, with 429 or 503, to receive no requests at all. Null if it did not. */
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
  retryAfterMs: 0,
  isTransient: false,
  holdMs: null,
  isRetryAfterIgnored: false,
  isGone: false,
});

const gone = 410;
const overloaded: ReadonlySet<number | null> = new Set([429, 503]);
const unreachable: ReadonlySet<string | null> = new Set(['CONNECTION_FAILED', 'DNS_FAILED', 'TIMEOUT', 'TLS_FAILED']);

/**
 * Classifies an attempt. A status counts only if the response was complete. `Retry-After` delays the delivery in any case.
 *
 * @param attempt the number of this attempt since the delivery was queued, from 1
 * @param nowMs database time, to which a date in `Retry-After` refers
 * @param random from 0 (inclusive) to 1 (exclusive), for the jitter of the retry
 * @param isHastened the failure leaves the schedule as it was: storage adds the delay only if it ends later
 */
export function classifyAttempt(
  result: AttemptResult,
  attempt: number,
  nowMs: number,
  random: () => number,
  isHastened = false,
): AttemptClassification {
  const status = result.error === null ? result.responseStatus : null;
  if (status !== null && status >= 200 && status <= 299) return success;
  const parsedMs = parseRetryAfter(result.retryAfter, nowMs);
  const retryAfterMs = Math.min(parsedMs ?? 0, retryDelayMaxMs);
  return {
    next: nextStep(),
    retryAfterMs,
    isTransient: unreachable.has(result.error) || status === 429 || (status !== null && status >= 500),
    holdMs: overloaded.has(status) && parsedMs !== null ? retryAfterMs : null,
    isRetryAfterIgnored: result.retryAfter !== null && parsedMs === null,
    isGone: status === gone,
  };

  function nextStep(): NextStep {
    if (isHastened) return { kind: 'retry', delayMs: retryAfterMs };
    return attempt >= attemptsMax ? failed : { kind: 'retry', delayMs: retryDelayMs(attempt, retryAfterMs, random()) };
  }
}

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
