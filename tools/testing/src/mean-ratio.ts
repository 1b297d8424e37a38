/**
 * The geometric mean, so that 2 and 0.5 have the mean 1, with the interval that contains it with a probability of 95 %, by Student's
 * distribution.
 *
 * @param values ratios greater than 0; with fewer than two, the interval is not a number
 */
export function meanRatio(values: readonly number[]) {
  const logarithms = values.map((ratio) => Math.log(ratio));
  const middle = logarithms.reduce((sum, logarithm) => sum + logarithm, 0) / logarithms.length;
  const squares = logarithms.reduce((sum, logarithm) => sum + (logarithm - middle) ** 2, 0);
  const freedom = logarithms.length - 1;
  const width = quantile(freedom) * Math.sqrt(squares / freedom / logarithms.length);
  return { mean: Math.exp(middle), low: Math.exp(middle - width), high: Math.exp(middle + width) };
}

/** The quantile of 97.5 % of Student's distribution, within 1 % from 5 degrees of freedom: Abramowitz and Stegun, 26.7.5. */
function quantile(freedom: number): number {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}
