import { expect, test } from 'vitest';
import { compareRandomExecutions, isUseful } from '../../test/support/random-execution.ts';

// 50,000 documents in test/long/plans.test.ts.
const documents = 60;

test('gives the same data and errors, and calls the same resolvers in the same order, as graphql', async () => {
  const counts = await compareRandomExecutions(documents, { isAsync: false });
  expect(counts).toSatisfy(isUseful);
});

test('gives the same data and the same errors when resolvers return promises', async () => {
  const counts = await compareRandomExecutions(documents, { isAsync: true });
  expect(counts).toSatisfy(isUseful);
  expect(counts.same / counts.single).toBeGreaterThan(0.9);
});
