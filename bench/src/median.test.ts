import { expect, it } from 'vitest';
import { median } from './median.ts';

it.each([
  [[3], 3],
  [[5, 1, 3], 3],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 2], 9],
])('returns the median of %j', (values, expected) => {
  expect(median(values)).toBe(expected);
});
