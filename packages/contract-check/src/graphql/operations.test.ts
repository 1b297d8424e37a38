import { expect, test } from 'vitest';
import { judgeOperations } from '../../test/support/judge-operations.ts';

// `test/long` has 50,000 operations.
test('no verdict is too small for 200 operations', () => {
  const { operations, broken, tooSmall } = judgeOperations(1, 200);
  expect(tooSmall).toEqual([]);
  expect(operations).toBeGreaterThanOrEqual(200);
  // The test is worth nothing if its changes break nothing.
  expect(broken).toBeGreaterThan(6);
});
