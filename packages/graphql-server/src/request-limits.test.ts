import { bodyCost, readingCost, rejectionCost } from '@deedwire/operation-analysis';
import { expect, test } from 'vitest';
import { requestLimits } from './request-limits.ts';

test.each([
  // bytes, body, document, rejected document
  [0, 1, 1, 40],
  [100, 1, 1, 40],
  [101, 1, 2, 40],
  [400, 1, 4, 40],
  [401, 1, 5, 41],
  [500, 1, 5, 50],
  [501, 2, 6, 51],
  [10_605, 22, 107, 1_000],
  [100_000, 200, 1_000, 1_000],
])('%i bytes cost %i points in a body, %i in a document and %i in a rejected document', (bytes, ...expected) => {
  expect([bodyCost, readingCost, rejectionCost].map((cost) => cost(bytes, requestLimits))).toEqual(expected);
});
