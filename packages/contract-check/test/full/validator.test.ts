import { expect, test } from 'vitest';
import { judgeVerdicts } from '../support/judge-verdicts.ts';

// `test/long` has more seeds and families.
test('no verdict is too small for 1,000 pairs of schemas', () => {
  const { pairs, tooSmall } = judgeVerdicts(1, 8);
  expect(pairs).toBeGreaterThanOrEqual(1_000);
  expect(tooSmall).toEqual([]);
});
