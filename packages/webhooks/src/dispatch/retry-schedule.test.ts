import { expect, test } from 'vitest';
import { retrySchedule } from './retry-schedule.ts';

test('the schedule has 15 attempts, the last one 73.7 hours after the first, or up to 20 % later', () => {
  const schedule = retrySchedule();
  expect(schedule.slice(0, 3)).toEqual([
    { attempt: 1, delayMs: 0, earliestMs: 0, latestMs: 0 },
    { attempt: 2, delayMs: 5_000, earliestMs: 5_000, latestMs: 6_000 },
    { attempt: 3, delayMs: 15_000, earliestMs: 20_000, latestMs: 24_000 },
  ]);
  expect(schedule.at(-1)).toEqual({
    attempt: 15,
    delayMs: 43_200_000,
    earliestMs: 265_205_000,
    latestMs: 318_246_000,
  });
});
