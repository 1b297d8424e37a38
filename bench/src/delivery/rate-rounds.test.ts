import { expect, it } from 'vitest';
import { rateRatio } from '../rounds.ts';
import { rateResult } from './rate-rounds.ts';

function round(elapsedMs: number, store: { storeCpuMs: number; walBytes: number } | null) {
  return { operations: 1000, attempts: 1001, elapsedMs, cpuMs: 50, storeCpuMs: null, walBytes: null, ...store };
}

it('returns medians per delivery', () => {
  const rounds = [
    round(100, { storeCpuMs: 20, walBytes: 5000 }),
    round(200, { storeCpuMs: 30, walBytes: 9000 }),
    round(500, { storeCpuMs: 40, walBytes: 6000 }),
  ];
  expect(rateResult('peer', rounds)).toEqual({
    name: 'peer',
    perSecond: 5000,
    cpuMicroseconds: 50,
    storeCpuMicroseconds: 30,
    walBytes: 6,
    retries: 3,
  });
});

it('returns null for a store whose use is unknown', () => {
  expect(rateResult('bare', [round(100, null)])).toMatchObject({ storeCpuMicroseconds: null, walBytes: null });
});

it('compares the rates of the same round', () => {
  // In the second round, other load halves both rates.
  const ours = [round(200, null), round(400, null), round(200, null)];
  const peer = [round(100, null), round(200, null), round(100, null)];
  expect(rateRatio(ours, peer)).toBe(0.5);
});
