import { expect, test } from 'vitest';
import { createLineThrottle } from './line-throttle.ts';

test('lets one line of each key pass in a second, and counts those in between', () => {
  let nowMs = 0;
  const throttle = createLineThrottle({ monotonicMs: () => nowMs });
  expect([throttle.pass('a'), throttle.pass('a'), throttle.pass('b'), throttle.pass('a')]).toEqual([0, null, 0, null]);
  nowMs = 999;
  expect(throttle.pass('a')).toBe(null);
  nowMs = 1000;
  expect([throttle.pass('a'), throttle.pass('b'), throttle.pass('a')]).toEqual([3, 0, null]);
});

test('drops the key whose line passed longest ago', () => {
  const throttle = createLineThrottle({ monotonicMs: () => 0, maxSize: 2 });
  expect([throttle.pass('a'), throttle.pass('b'), throttle.pass('c'), throttle.pass('b'), throttle.pass('a')]).toEqual([
    0,
    0,
    0,
    null,
    0,
  ]);
});
