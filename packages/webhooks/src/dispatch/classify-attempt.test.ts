import type { AttemptResult } from '@deedwire/webhook-sender';
import { expect, test } from 'vitest';
import { type AttemptClassification, classifyAttempt } from './classify-attempt.ts';

const now = new Date('2026-11-20T08:00:00Z');
const responds = (responseStatus: number, retryAfter: string | null = null): AttemptResult => ({
  startedAt: now,
  durationMs: 12,
  responseStatus,
  error: null,
  retryAfter,
});
type Expected = Omit<AttemptClassification, 'retryAfterMs' | 'isTransient'>;
const classified = (next: Expected['next'], lane: Partial<Expected> = {}): Expected => ({
  next,
  holdMs: null,
  isRetryAfterIgnored: false,
  isGone: false,
  ...lane,
});
const success = classified({ kind: 'delivered' });
const failure = (lane: Partial<Expected> = {}) => classified({ kind: 'failed' }, lane);
const retry = (delayMs: number, lane: Partial<Expected> = {}) => classified({ kind: 'retry', delayMs }, lane);

test.each<[string, AttemptResult, number, Expected]>([
  ['200 is a success', responds(200), 1, success],
  ['204 at the last attempt is a success', responds(204), 15, success],
  ['299 is a success', responds(299), 1, success],
  ['199 is a failure', responds(199), 1, retry(5_000)],
  ['a redirect is a failure', responds(302), 1, retry(5_000)],
  ['400 is retried, because receivers are repaired', responds(400), 1, retry(5_000)],
  ['500 at the fourteenth attempt is retried', responds(500), 14, retry(43_200_000)],
  ['500 at the fifteenth attempt is final', responds(500), 15, failure()],
  ['503 with Retry-After holds the lane', responds(503, '600'), 1, retry(600_000, { holdMs: 600_000 })],
  ['429 with Retry-After holds the lane', responds(429, '60'), 1, retry(60_000, { holdMs: 60_000 })],
  ['429 without Retry-After does not', responds(429), 1, retry(5_000)],
  ['500 with Retry-After delays the delivery only', responds(500, '600'), 1, retry(600_000)],
  ['a short Retry-After holds the lane for that time', responds(503, '1'), 5, retry(405_000, { holdMs: 1_000 })],
  ['Retry-After is limited to 12 h', responds(503, '999999999'), 1, retry(43_200_000, { holdMs: 43_200_000 })],
  ['503 with two equal Retry-After holds the lane', responds(503, '60, 60'), 1, retry(60_000, { holdMs: 60_000 })],
  ['an invalid Retry-After is ignored', responds(503, '1 minute'), 1, retry(5_000, { isRetryAfterIgnored: true })],
  ['an empty Retry-After is ignored', responds(404, ''), 15, failure({ isRetryAfterIgnored: true })],
  ['an invalid Retry-After of a success means nothing', responds(200, 'soon'), 1, success],
  ['429 at the last attempt holds the lane', responds(429, '60'), 15, failure({ holdMs: 60_000 })],
  ['410 pauses and keeps the delivery', responds(410), 1, retry(5_000, { isGone: true })],
  ['410 at the fifteenth attempt is final', responds(410), 15, failure({ isGone: true })],
  ['no response is a failure', { ...responds(0), responseStatus: null, error: 'TIMEOUT' }, 2, retry(15_000)],
  ['a 200 that did not end is a failure', { ...responds(200), error: 'TIMEOUT' }, 2, retry(15_000)],
  ['a 410 that did not end does not pause', { ...responds(410), error: 'TIMEOUT' }, 2, retry(15_000)],
])('%s', (_, result, attempt, expected) => {
  const { retryAfterMs: _r, isTransient: _t, ...actual } = classifyAttempt(result, attempt, now.getTime(), () => 0);
  expect(actual).toEqual(expected);
});

test('jitter adds up to 20 % to the delay of a retry', () => {
  const { next } = classifyAttempt(responds(500), 1, now.getTime(), () => 0.999_999);
  expect(next).toEqual({ kind: 'retry', delayMs: 6_000 });
});

const noResponse = (error: AttemptResult['error']): AttemptResult => ({ ...responds(0), responseStatus: null, error });

test.each<[string, AttemptResult, boolean]>([
  ['200', responds(200), false],
  ['302', responds(302), false],
  ['400', responds(400), false],
  ['410', responds(410), false],
  ['429', responds(429), true],
  ['499', responds(499), false],
  ['500', responds(500), true],
  ['599', responds(599), true],
  ['a 400 that did not end', { ...responds(400), error: 'TIMEOUT' }, true],
  ['no connection', noResponse('CONNECTION_FAILED'), true],
  ['no address', noResponse('DNS_FAILED'), true],
  ['no valid certificate', noResponse('TLS_FAILED'), true],
  ['no HTTP', noResponse('PROTOCOL_ERROR'), false],
  ['a forbidden URL', noResponse('URL_FORBIDDEN'), false],
])('%s can end when the receiver works again: %#', (_, result, isTransient) => {
  expect(classifyAttempt(result, 1, now.getTime(), () => 0).isTransient).toBe(isTransient);
});

test.each<[AttemptResult, number, number]>([
  [responds(500), 15, 0],
  [responds(503, '10000'), 15, 10_000_000],
  [responds(503, '60'), 1, 60_000],
])('a hastened attempt that fails adds only what the receiver asks for: %#', (result, attempt, delayMs) => {
  const { next } = classifyAttempt(result, attempt, now.getTime(), () => 0.5, true);
  expect(next).toEqual({ kind: 'retry', delayMs });
});
