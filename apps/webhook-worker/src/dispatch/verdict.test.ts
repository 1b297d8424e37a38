import type { AttemptResult } from '@deedwire/webhook-sender';
import { expect, test } from 'vitest';
import { classifyAttempt, type Verdict } from './verdict.ts';

const now = new Date('2026-11-20T08:00:00Z');
const answered = (responseStatus: number, retryAfter: string | null = null): AttemptResult => ({
  startedAt: now,
  durationMs: 12,
  responseStatus,
  error: null,
  retryAfter,
});
const retry = (delayMs: number, pause: 'GONE' | null = null): Verdict => ({ kind: 'retry', delayMs, pause });

test.each<[string, AttemptResult, number, Verdict]>([
  ['200', answered(200), 1, { kind: 'delivered' }],
  ['204 at the last attempt', answered(204), 15, { kind: 'delivered' }],
  ['299', answered(299), 1, { kind: 'delivered' }],
  ['199 is no success', answered(199), 1, retry(5_000)],
  ['a redirect is no success', answered(302), 1, retry(5_000)],
  ['400 is tried again, too: receivers get mended', answered(400), 1, retry(5_000)],
  ['503 with Retry-After', answered(503, '600'), 1, retry(600_000)],
  ['500 at the fourteenth attempt', answered(500), 14, retry(43_200_000)],
  ['500 at the fifteenth attempt', answered(500), 15, { kind: 'failed', pause: null }],
  ['410 pauses and keeps the delivery', answered(410), 1, retry(5_000, 'GONE')],
  ['410 at the fifteenth attempt', answered(410), 15, { kind: 'failed', pause: 'GONE' }],
  ['no answer', { ...answered(0), responseStatus: null, error: 'TIMEOUT' }, 2, retry(15_000)],
  ['a 200 that never ended', { ...answered(200), error: 'TIMEOUT' }, 2, retry(15_000)],
  ['a 410 that never ended', { ...answered(410), error: 'TIMEOUT' }, 2, retry(15_000)],
])('%s', (_, outcome, attempt, expected) => {
  expect(classifyAttempt(outcome, attempt, now, 0)).toEqual(expected);
});
