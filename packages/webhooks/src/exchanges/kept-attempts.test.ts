import { toRecordId } from '@deedwire/core';
import { afterEach, expect, test, vi } from 'vitest';
import type { SubscriptionId } from '../kernel/ids.ts';
import { KeptAttempts } from './kept-attempts.ts';

const subscription = (number: number): SubscriptionId => toRecordId<'WebhookSubscription'>(String(number + 1));
const body = 16 * 1024;

afterEach(() => vi.useRealTimers());

test('keeps one plain first success of a second and subscription, and everything else', () => {
  const kept = new KeptAttempts();
  const first = kept.policyOf(subscription(1), 1);
  expect([0, 500, 999, 1_000, 1_500, 2_000].map((ms) => first.keeps(204, ms))).toEqual([
    true,
    false,
    false,
    true,
    false,
    true,
  ]);
  expect([199, 300, 404, 410, 500].map((status) => first.keeps(status, 2_000))).toEqual(Array(5).fill(true));
  const later = kept.policyOf(subscription(1), 2);
  expect([200, 200, 500].map((status) => later.keeps(status, 2_000))).toEqual([true, true, true]);
  expect(kept.policyOf(subscription(2), 1).keeps(200, 2_000)).toBe(true);
});

test('keeps at most 200 plain first successes a second of all subscriptions', () => {
  const kept = new KeptAttempts();
  const keptAt = (ms: number) =>
    Array.from({ length: 1_000 }, (_, number) => kept.policyOf(subscription(number), 1).keeps(200, ms)).filter(Boolean);
  expect(keptAt(0)).toHaveLength(200);
  expect(keptAt(1_000)).toHaveLength(200);
  expect(kept.policyOf(subscription(1), 1).keeps(500, 1_000)).toBe(true);
});

test('one subscription keeps 1 MB of bodies at once and then 16 kB a second, and takes nothing from others', () => {
  const kept = new KeptAttempts();
  const [noisy, quiet] = [kept.policyOf(subscription(1), 2), kept.policyOf(subscription(2), 1)];
  const taken = (ms: number): number => Array.from({ length: 100 }).filter(() => noisy.takeBytes(body, ms)).length;
  expect(taken(0)).toBe(Math.floor(1_000_000 / body));
  expect(taken(10_000)).toBe(Math.floor((160_000 + (1_000_000 % body)) / body));
  expect(quiet.takeBytes(body, 10_000)).toBe(true);
});

test('a worker keeps 4 MB of bodies a second, and what it refuses is not taken from the subscription', () => {
  const kept = new KeptAttempts();
  const policies = Array.from({ length: 1_000 }, (_, number) => kept.policyOf(subscription(number), 1));
  expect(policies.filter((policy) => policy.takeBytes(body, 0))).toHaveLength(Math.floor(4_000_000 / body));
  const last = policies.at(-1);
  expect(Array.from({ length: 61 }, () => last?.takeBytes(body, 1_000))).toEqual(Array(61).fill(true));
});

test('bytes that a body did not need can be taken again', () => {
  const policy = new KeptAttempts().policyOf(subscription(1), 1);
  for (let attempt = 0; attempt < 10_000; attempt += 1) {
    expect(policy.takeBytes(body, 0)).toBe(true);
    policy.returnBytes(body);
  }
});

test('forgets subscriptions that were not used for more than a minute', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const kept = new KeptAttempts();
  for (let number = 0; number < 10_000; number += 1) {
    kept.policyOf(subscription(number), 1).takeBytes(body, performance.now());
    vi.advanceTimersByTime(100);
  }
  expect(kept.size).toBeLessThan(2_500);
});
