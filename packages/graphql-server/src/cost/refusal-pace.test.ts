import { expect, test } from 'vitest';
import { createRefusalPace } from './refusal-pace.ts';

const options = { atOnce: 3, perSecond: 10, maxDelayMs: 500, maxDue: 12 };
const pace = () => createRefusalPace(options).next;

test('sends some refusals at once, the others at the rate, and none later than the maximum', () => {
  const delayMs = pace();
  expect(Array.from({ length: 10 }, () => delayMs('a', 1_000))).toEqual([0, 0, 0, 100, 200, 300, 400, 500, 500, 500]);
});

test('sends refusals at once again after a pause, and those of a slow client always', () => {
  const delayMs = pace();
  for (let count = 0; count < 10; count += 1) delayMs('a', 1_000);
  expect(delayMs('a', 1_300)).toBe(500);
  expect(delayMs('a', 2_200)).toBe(0);
  for (let nowMs = 5_000; nowMs < 8_000; nowMs += 100) expect(delayMs('a', nowMs)).toBe(0);
});

test('delays no refusal because of another client', () => {
  const delayMs = pace();
  for (let count = 0; count < 10; count += 1) delayMs('a', 1_000);
  expect([delayMs('b', 1_000), delayMs('a', 1_000)]).toEqual([0, 500]);
});

test('counts a number of refusals, and no more until some are due', () => {
  const { next, isFull } = createRefusalPace(options);
  const full = Array.from({ length: 13 }, () => {
    const wasFull = isFull('a', 1_000);
    next('a', 1_000);
    return wasFull;
  });
  expect(full).toEqual([...Array(12).fill(false), true]);
  expect([isFull('b', 1_000), isFull('a', 1_100), isFull('a', 1_200)]).toEqual([false, true, false]);
});
