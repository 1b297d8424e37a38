import { expect, it } from 'vitest';
import { writeResults, type WriteMeasurement } from './rounds.ts';

function round(elapsedMs: number, cpuMs: WriteMeasurement['cpuMs']): WriteMeasurement {
  return { operations: 1000, elapsedMs, cpuMs };
}

it('divides the values of the first contestant by those of each one in the same round', () => {
  // In the second round, other load halves both rates.
  const ours = [200, 400, 200].map((ms) => round(ms, { api: 10, worker: 20, postgres: 30 }));
  const peer = [400, 800, 400].map((ms) => round(ms, { api: 40, worker: 30, postgres: 50 }));
  expect(
    writeResults(
      new Map([
        ['ours', ours],
        ['peer', peer],
      ]),
    ),
  ).toEqual([
    {
      name: 'ours',
      eventsPerSecond: 5000,
      cpu: { api: 10, worker: 20, postgres: 30, total: 60 },
      rateRatio: 1,
      cpuRatio: 1,
    },
    {
      name: 'peer',
      eventsPerSecond: 2500,
      cpu: { api: 40, worker: 30, postgres: 50, total: 120 },
      rateRatio: 2,
      cpuRatio: 0.5,
    },
  ]);
});

it('returns null for a sum with an unknown part', () => {
  const rounds = [round(200, { api: 10, worker: 20, postgres: null })];
  expect(writeResults(new Map([['ours', rounds]]))).toMatchObject([
    { cpu: { api: 10, worker: 20, postgres: null, total: null }, cpuRatio: null },
  ]);
});
