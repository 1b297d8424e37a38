import { expect, it } from 'vitest';
import { percentile } from './percentile.ts';

it.each([
  [0.5, 50],
  [0.99, 99],
  [0.991, 100],
  [1, 100],
])('returns the nearest rank for %d', (fraction, expected) => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, fraction)).toBe(expected);
});

it('returns the only value for every fraction', () => {
  expect([percentile([7], 0.01), percentile([7], 1)]).toEqual([7, 7]);
});
