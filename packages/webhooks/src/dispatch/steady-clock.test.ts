import { expect, test } from 'vitest';
import { VirtualClock } from '../../test/dispatch/virtual-clock.ts';
import { SteadyClock } from './steady-clock.ts';

test('continues from its last reading when the database clock steps back', async () => {
  const clock = new VirtualClock();
  const steady = new SteadyClock(clock);
  const startMs = steady.nowMs();
  clock.step(-10_000);
  expect(steady.nowMs()).toBe(startMs);
  await clock.advance(500);
  expect(steady.nowMs()).toBe(startMs + 500);
  expect(steady.offsetMs).toBe(10_000);
});

test('follows the database clock when it steps forward', () => {
  const clock = new VirtualClock();
  const steady = new SteadyClock(clock);
  const startMs = steady.nowMs();
  clock.step(10_000);
  expect(steady.nowMs()).toBe(startMs + 10_000);
  expect(steady.offsetMs).toBe(0);
});
