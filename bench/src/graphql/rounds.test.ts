import { expect, it } from 'vitest';
import { connectionsResult, type GraphqlMeasurement } from './rounds.ts';

function round(operations: number, cpuMs: number, p99Ms: number): GraphqlMeasurement {
  return { operations, refused: 0, elapsedMs: 500, p50Ms: 1, p99Ms, cpuMs, residentBytes: 1000 };
}

it('divides values of the same round, and takes medians', () => {
  const measured = new Map([
    ['deedwire' as const, [round(100, 10, 4), round(300, 60, 6), round(200, 10, 2)]],
    ['mercurius-jit' as const, [round(50, 10, 2), round(100, 20, 2), round(400, 20, 2)]],
    ['mercurius-guarded' as const, [round(50, 10, 8), round(150, 10, 12), round(400, 10, 8)]],
    ['mercurius' as const, [round(100, 10, 4), round(300, 30, 6), round(200, 20, 2)]],
    ['apollo' as const, [round(25, 10, 8), round(50, 10, 12), round(100, 10, 8)]],
  ]);
  const { results, ratios, p99Ratios } = connectionsResult(32, measured);
  expect(results[0]).toEqual({
    name: 'deedwire',
    requestsPerSecond: 400,
    p50Ms: 1,
    p99Ms: 4,
    cpuMicroseconds: 100,
    residentBytes: 1000,
  });
  expect(ratios).toEqual({ 'mercurius-jit': 2, 'mercurius-guarded': 2, mercurius: 1, apollo: 4 });
  expect(p99Ratios).toEqual({ 'mercurius-jit': 2, 'mercurius-guarded': 0.5, mercurius: 1, apollo: 0.5 });
});
