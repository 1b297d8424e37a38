import { expect, test } from 'vitest';
import { evolveDocuments } from '../support/validation-budget.ts';

// `test/long` has more documents.
test('no document that evolves towards more CPU time exceeds the budget', { timeout: 600_000 }, () => {
  const { outcomes, cpuMs } = evolveDocuments(100);
  // The budget is 20 ms. A busy machine can need many times that; this only notices quadratic time.
  for (const document of cpuMs) expect(document).toBeLessThan(200);
  expect(Math.min(outcomes.valid, outcomes.invalid)).toBeGreaterThan(1);
});
