import { expect, it } from 'vitest';
import { summarize } from './summarize.ts';

const phase = { startMs: 0, pressureMs: 10_000, reliefMs: 20_000, endMs: 30_000 };

/** An event every 100 ms, which arrives after `delayOf`. */
const eachTenth = (delayOf: (committedMs: number) => number) =>
  Array.from({ length: 300 }, (_, index) => {
    const committedMs = index * 100;
    return { committedMs, arrivedMs: committedMs + delayOf(committedMs), isBurst: false };
  });

it('compares the rate of arrivals with that before the pressure', () => {
  const result = summarize(
    eachTenth(() => 5),
    phase,
  );
  expect(result).toMatchObject({
    before: { committedPerSecond: 10, arrivedPerSecond: 10, p99Ms: 5 },
    during: { committedPerSecond: 10, arrivedPerSecond: 10, p99Ms: 5 },
    share: 1,
    backlogGoneMs: 0,
  });
});

it('finds the most that waited, and when it had arrived', () => {
  // Nothing arrives until 4 seconds after the pressure.
  const held = eachTenth((committedMs) => (committedMs >= 10_000 && committedMs < 24_000 ? 24_000 - committedMs : 5));
  const { share, backlogMost, backlogGoneMs, during } = summarize(held, phase);
  expect({ share, backlogMost, backlogGoneMs }).toEqual({ share: 0, backlogMost: 140, backlogGoneMs: 4_000 });
  expect(during.p99Ms).toBeGreaterThan(13_000);
});

it('leaves the events of a burst out of the latencies of the others', () => {
  const burst = { committedMs: 15_000, arrivedMs: 29_000, isBurst: true };
  expect(summarize([...eachTenth(() => 5), burst], phase).during.p99Ms).toBe(5);
});
