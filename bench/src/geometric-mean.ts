import { mean, sampleStandardDeviation } from 'simple-statistics';

/**
 * The geometric mean, so that 2 and 0.5 have the mean 1, with the interval that contains it with a probability of 95 %, by Student's
 * distribution.
 *
 * @param ratios greater than 0; with fewer than two, the interval is not a number
 */
export function meanRatio(ratios: readonly number[]) {
  const logarithms = ratios.map((ratio) => Math.log(ratio));
  const middle = mean(logarithms);
  const deviation = logarithms.length < 2 ? Number.NaN : sampleStandardDeviation(logarithms);
  const width = (quantile(logarithms.length - 1) * deviation) / Math.sqrt(logarithms.length);
  return { mean: Math.exp(middle), low: Math.exp(middle - width), high: Math.exp(middle + width) };
}

/** The quantile of 97.5 % of Student's distribution, within 1 % from 5 degrees of freedom: Abramowitz and Stegun, 26.7.5. */
function quantile(freedom: number): number {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}
