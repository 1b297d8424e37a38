import { expect, it } from 'vitest';
import { contestantResults } from './rounds.ts';

function round(operations: number, cpuMs: number) {
  return { operations, cpuMs, elapsedMs: 1000 };
}

it('compares each round with the baseline in the same round', () => {
  // In the second round, other load halves the rate of both.
  const measured = {
    ours: [round(100, 10), round(50, 10), round(100, 10)],
    peer: [round(200, 40), round(100, 40), round(200, 40)],
  };
  expect(contestantResults(measured, 'peer')).toEqual([
    { name: 'ours', perSecond: 100, cpuMicroseconds: 100, rateRatio: 0.5, cpuRatio: 0.5 },
    { name: 'peer', perSecond: 200, cpuMicroseconds: 200, rateRatio: 1, cpuRatio: 1 },
  ]);
});
