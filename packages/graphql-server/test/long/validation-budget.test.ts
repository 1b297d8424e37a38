import { expect, test } from 'vitest';
import { compareMerging, evolveDocuments } from '../support/validation-budget.ts';

// `src/operation/read-document.test.ts` reads the documents that this begins with.
test('merging fields gives the same verdict as the rule of graphql', () => {
  const { accepted, rejected } = compareMerging(100_000);
  expect(Math.min(accepted, rejected)).toBeGreaterThan(5_000);
});

test('no document that evolves towards more CPU time exceeds the budget', () => {
  const { outcomes, cpuMs } = evolveDocuments(50_000);
  // The budget is 20 ms. A busy machine can need many times that; this only notices quadratic time.
  for (const document of cpuMs) expect(document).toBeLessThan(200);
  expect(Math.min(outcomes.valid, outcomes.invalid)).toBeGreaterThan(500);
});
