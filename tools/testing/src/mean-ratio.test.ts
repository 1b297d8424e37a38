import { expect, test } from 'vitest';
import { meanRatio } from './mean-ratio.ts';

test('twice as fast and half as fast cancel out', () => {
  expect(meanRatio([2, 0.5]).mean).toBeCloseTo(1);
});

test('the interval is that of Student', () => {
  // Ten values with the mean 0 and the standard deviation 1 of their logarithms: 2.262 / √10.
  const deviation = Math.sqrt(9 / 10);
  const { mean, low, high } = meanRatio(
    Array.from({ length: 10 }, (_, index) => Math.exp(index % 2 === 0 ? deviation : -deviation)),
  );
  expect(mean).toBeCloseTo(1);
  expect(Math.log(high)).toBeCloseTo(2.262 / Math.sqrt(10), 2);
  expect(Math.log(low)).toBeCloseTo(-2.262 / Math.sqrt(10), 2);
});
