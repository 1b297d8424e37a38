import { expect, test } from 'vitest';
import { compareRandomExecutions } from '../support/random-execution.ts';

// Two operations each.
const documents = 25_000;

test.each([
  ['values', false],
  ['promises', true],
])('25,000 random documents have the results of graphql if resolvers return %s', async (_, isAsync) => {
  const counts = await compareRandomExecutions(documents, { isAsync, seed: 20_261_122 });
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(counts.planned).toBeGreaterThan(10_000);
  expect(counts.withErrors).toBeGreaterThan(10_000);
  expect(counts.withInvalidVariables).toBeGreaterThan(100);
});
