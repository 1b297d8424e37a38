import { expect, it } from 'vitest';
import { latencyResult, rateResult } from './report.ts';

it('compares with ours in the same round', () => {
  // In the second round, other load halves both rates.
  const ours = [200, 400, 200].map((elapsedMs) => ({ operations: 1000, elapsedMs, cpuMs: 100 }));
  const other = [400, 800, 400].map((elapsedMs) => ({ operations: 1000, elapsedMs, cpuMs: 400 }));
  expect(rateResult(other, ours)).toEqual({
    perSecond: 2500,
    lowestPerSecond: 1250,
    highestPerSecond: 2500,
    cpuSeconds: 0.4,
    rateRatio: 2,
    cpuRatio: 0.25,
  });
});

it('returns null for a CPU time that is not known', () => {
  const ours = [{ operations: 1000, elapsedMs: 200, cpuMs: 100 }];
  const other = [{ operations: 1000, elapsedMs: 400, cpuMs: null }];
  expect(rateResult(other, ours)).toMatchObject({ rateRatio: 2, cpuSeconds: null, cpuRatio: null });
});

it('counts events that are missing as later than all others', () => {
  const missing = Number.POSITIVE_INFINITY;
  expect(latencyResult([3, 1, missing, 2], 1000)).toEqual({
    events: 4,
    missing: 1,
    timeoutMs: 1000,
    p50Ms: 2.5,
    p99Ms: null,
  });
});
