import { idAt } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { type Health, healthOf, type HealthFacts } from './health.ts';

const now = new Date('2026-11-20T10:00:00.000Z');
const at = (seconds: number): Date => new Date(now.getTime() + seconds * 1_000);

const clean: HealthFacts = {
  now,
  isPaused: false,
  consecutiveFailures: null,
  failingSince: null,
  lastFailureAt: null,
  lastFailedDeliveryId: null,
  lastDeliveredAt: null,
  breakerOpenUntil: null,
  pendingCount: 0,
  oldestPending: null,
};
const failed: HealthFacts = { ...clean, consecutiveFailures: 3, failingSince: at(-60), lastFailureAt: at(-5) };

test.each<[Health['state'], string, HealthFacts]>([
  ['HEALTHY', 'without a failure', clean],
  ['HEALTHY', 'whatever waits', { ...clean, pendingCount: 1_001 }],
  ['RETRYING', 'after failures', failed],
  ['RETRYING', 'until they last for 5 minutes', { ...failed, failingSince: at(-299) }],
  ['FAILING', 'after 5 minutes', { ...failed, failingSince: at(-300) }],
  ['FAILING', 'also without a failure since', { ...failed, failingSince: at(-300), lastFailureAt: at(-300) }],
  ['FAILING', 'while the breaker is open', { ...failed, breakerOpenUntil: at(5) }],
  ['FAILING', 'once the breaker allows a probe', { ...failed, breakerOpenUntil: at(-5) }],
  ['RETRYING', 'if the proxy may be the cause', { ...clean, consecutiveFailures: 9 }],
  ['PAUSED', 'whatever the receiver did', { ...failed, isPaused: true, failingSince: at(-3600) }],
])('%s %s', (state, _when, facts) => {
  expect(healthOf(facts).state).toBe(state);
});

test('counts up to 1,000, and dates the oldest delivery by its id', () => {
  const oldestPending = idAt<'WebhookDelivery'>(at(-90));
  const waiting = (pendingCount: number) => healthOf({ ...clean, pendingCount, oldestPending });
  expect(waiting(1_000)).toMatchObject({
    pendingCount: 1_000,
    pendingCountIsLowerBound: false,
    oldestPendingAt: at(-90),
  });
  expect(waiting(1_001)).toMatchObject({ pendingCount: 1_000, pendingCountIsLowerBound: true });
  expect(healthOf(clean)).toMatchObject({ consecutiveFailures: 0, oldestPendingAt: null });
});
