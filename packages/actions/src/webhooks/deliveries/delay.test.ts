import { expect, test } from 'vitest';
import { type DelayFacts, delayOf } from './delay.ts';

const at = (seconds: number): Date => new Date(Date.UTC(2026, 10, 3, 9) + seconds * 1000);

const due: DelayFacts = {
  now: at(0),
  dueAt: at(-3),
  attempts: 0,
  lastAttemptAt: null,
  pausedReason: null,
  pausedAt: null,
  breakerOpenUntil: null,
  holdUntil: null,
  failingSince: null,
  lastFailureAt: null,
  hasWorker: true,
};
const failed = { attempts: 3, lastAttemptAt: at(-20), failingSince: at(-600), lastFailureAt: at(-5) };
const past = { breakerOpenUntil: at(-1), holdUntil: at(0) };

test.each<[string, Partial<DelayFacts>, object]>([
  ['is due', {}, { reason: 'WAITING_FOR_TURN', since: at(-3), until: null }],
  ['was handed to another worker', { dueAt: at(7) }, { reason: 'WAITING_FOR_TURN', since: null, until: at(7) }],
  [
    'waits for its next attempt',
    { ...failed, dueAt: at(40) },
    { reason: 'RETRY_SCHEDULED', since: at(-20), until: at(40) },
  ],
  ['is due again', { ...failed, ...past }, { reason: 'WAITING_FOR_TURN', since: at(-3), until: null }],
  ['has no worker', { hasWorker: false, ...past }, { reason: 'NO_WORKER', since: at(-3), until: null }],
  [
    'waits for its next attempt, and has no worker',
    { ...failed, dueAt: at(40), hasWorker: false },
    { reason: 'RETRY_SCHEDULED', since: at(-20), until: at(40) },
  ],
  [
    'waits longest for the breaker',
    { ...failed, dueAt: at(40), holdUntil: at(50), breakerOpenUntil: at(60) },
    { reason: 'BREAKER_OPEN', since: at(-600), until: at(60) },
  ],
  [
    'waits longest for Retry-After',
    { ...failed, dueAt: at(40), holdUntil: at(70), breakerOpenUntil: at(60) },
    { reason: 'RETRY_AFTER', since: at(-5), until: at(70) },
  ],
  [
    'waits for its next attempt longer than for the breaker',
    { ...failed, dueAt: at(80), breakerOpenUntil: at(60) },
    { reason: 'RETRY_SCHEDULED', since: at(-20), until: at(80) },
  ],
  [
    'is paused',
    { ...failed, pausedReason: 'GONE', pausedAt: at(-9), breakerOpenUntil: at(60), hasWorker: false },
    { reason: 'PAUSED', since: at(-9), until: null },
  ],
])('a delivery that %s', (_, facts, expected) => {
  const { message, ...delay } = delayOf({ ...due, ...facts });
  expect(delay).toEqual(expected);
  expect(message.length).toBeGreaterThan(40);
  expect(message.length).toBeLessThanOrEqual(250);
});

test('a delivery that waits longer than its receiver asked for says what it asked for', () => {
  const { reason, until, message } = delayOf({ ...due, ...failed, dueAt: at(80), holdUntil: at(70) });
  expect([reason, until]).toEqual(['RETRY_SCHEDULED', at(80)]);
  expect(message).toContain(`\`Retry-After\` to get no request until ${at(70).toISOString()}.`);
  expect(delayOf({ ...due, ...failed, dueAt: at(80), holdUntil: at(-1) }).message).not.toContain('Retry-After');
});

test('every reason for a pause has its own message', () => {
  const reasons = ['OWNER', 'OPERATOR', 'GONE', 'FAILING', 'VERSION_RETIRED'] as const;
  const messages = reasons.map((pausedReason) => delayOf({ ...due, pausedReason }).message);
  expect(new Set(messages).size).toBe(5);
  expect(messages.filter((message) => message.length > 250)).toEqual([]);
});
