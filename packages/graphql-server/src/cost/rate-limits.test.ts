import { expect, test } from 'vitest';
import { rateLimitHeaders } from './rate-limits.ts';

test.each([
  ['a full bucket has no t', 2_000, 5, '"clientCostPoints";r=2000'],
  ['a bucket regains a point within a second', 1_999, 5, '"clientCostPoints";r=1999;t=1'],
  ['a client that owes points waits longer', 0, 3_001, '"clientCostPoints";r=0;t=4'],
])('%s', (_, currentlyAvailable, nextPointMs, expected) => {
  expect(rateLimitHeaders({ maximumAvailable: 2_000, restoreRate: 200, currentlyAvailable, nextPointMs })).toEqual({
    'RateLimit-Policy': '"clientCostPoints";q=2000;w=10',
    RateLimit: expected,
  });
});
