import { expect, test } from 'vitest';
import { judgeVerdicts } from '../support/judge-verdicts.ts';

// `test/long` has more seeds and families.
test('no verdict is too small for 300 pairs of schemas', () => {
  const { pairs, tooSmall } = judgeVerdicts(1, 3);
  expect(pairs).toBeGreaterThanOrEqual(300);
  expect(tooSmall).toEqual([]);
});
