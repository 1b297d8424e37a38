import { expect, test } from 'vitest';
import { createAddressLimiter } from './address-limiter.ts';

function setUp({ atOnce = 50, maxSize = 100 } = {}) {
  const clock = { ms: 0 };
  const limiter = createAddressLimiter({ atOnce, perSecond: 50, monotonicMs: () => clock.ms, maxSize });
  /** How many of `count` requests pass. */
  const passing = (address: string, count: number) =>
    Array.from({ length: count }, () => limiter.take(address)).filter(Boolean).length;
  return { clock, limiter, passing };
}

test('lets 50 requests of an address pass at once, and 50 more in each second', () => {
  const { clock, passing } = setUp();
  expect(passing('a', 60)).toBe(50);
  clock.ms = 100;
  expect(passing('a', 60)).toBe(5);
  clock.ms = 60_000;
  expect(passing('a', 60)).toBe(50);
});

test('lets more pass at once than in each second', () => {
  const { clock, passing } = setUp({ atOnce: 200 });
  expect(passing('a', 300)).toBe(200);
  clock.ms = 1_000;
  expect(passing('a', 300)).toBe(50);
});

test('counts each address separately', () => {
  const { passing } = setUp();
  expect(passing('a', 60)).toBe(50);
  expect(passing('b', 60)).toBe(50);
});

test('a refund lets one more request pass, but never more than 50', () => {
  const { limiter, passing } = setUp();
  limiter.refund('a');
  expect(passing('a', 60)).toBe(50);
  limiter.refund('a');
  expect(passing('a', 60)).toBe(1);
});

test('drops the bucket that was used least recently', () => {
  const { passing } = setUp({ maxSize: 2 });
  expect(passing('a', 60) + passing('b', 60)).toBe(100);
  expect(passing('a', 1)).toBe(0);
  passing('c', 1);
  expect(passing('b', 1)).toBe(0);
  expect(passing('a', 1)).toBe(1);
});
