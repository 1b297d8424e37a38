import { expect, test } from 'vitest';
import { judgeVerdicts } from '../support/judge-verdicts.ts';

test('no verdict is too small for 5,000 pairs of schemas', () => {
  const { pairs, tooSmall } = judgeVerdicts(1);
  expect(pairs).toBeGreaterThanOrEqual(5_000);
  expect(tooSmall).toEqual([]);
});
