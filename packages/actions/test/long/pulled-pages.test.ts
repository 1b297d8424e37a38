import { expect, test } from 'vitest';
import { provePages } from '../webhooks/pull/prove-pages.ts';

test.each([1, 2, 3])('pages of three writers at a time have every number once, for a minute: %d', async (seed) => {
  const { read, readIds, stored, refusals, ...counts } = await provePages({ phaseMs: 8_000, seed });
  process.stdout.write(`${JSON.stringify({ deliveries: stored.length, ...counts })}\n`);
  expect(refusals).toEqual([]);
  expect(read).toEqual(stored.map((_, index) => index + 1));
  expect(readIds).toEqual(stored);
  expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
});
