import { expect, test } from 'vitest';
import { judgeVerdicts } from '../support/judge-verdicts.ts';

test.each([1, 2, 3, 4, 5, 6, 7, 8])('no verdict is too small for 5,000 pairs of schemas: seed %i', (seed) => {
  const { pairs, tooSmall } = judgeVerdicts(seed, 40);
  expect(pairs).toBeGreaterThanOrEqual(5_000);
  expect(tooSmall).toEqual([]);
});
