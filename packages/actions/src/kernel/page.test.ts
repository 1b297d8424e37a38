import { toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import { InvalidArgumentError } from './errors.ts';
import { keysetPage, orderOfIds, type PageRequest } from './page.ts';

const ids = Array.from({ length: 45 }, (_, index) => toRecordId<never>(String(45 - index)));

const read = (request: PageRequest, list: 'orders' | 'webhookDeliveries' = 'orders') =>
  keysetPage(
    orderOfIds<never>(list),
    request,
    async ({ after, limit }) =>
      ids
        .filter((id) => after === null || Number(id) < Number(after))
        .slice(0, limit)
        .map((id) => ({ id })),
    ({ id }) => id,
  );

test('pages contain every record once', async () => {
  const seen: string[] = [];
  let after: string | null = null;
  const sizes: number[] = [];
  do {
    const page = await read({ after });
    seen.push(...page.edges.map(({ node }) => node));
    sizes.push(page.edges.length);
    after = page.hasNextPage ? page.endCursor : null;
  } while (after !== null);
  expect(seen).toEqual(ids);
  expect(sizes).toEqual([20, 20, 5]);
});

test('a full last page has no next page', async () => {
  expect(await read({ first: 45 })).toMatchObject({ hasNextPage: false });
  expect(await read({ first: 44 })).toMatchObject({ hasNextPage: true });
});

test.each([0, -1, 101, 1_000_000_000, 1.5, Number.NaN])('rejects first: %s', async (first) => {
  await expect(read({ first })).rejects.toThrow(InvalidArgumentError);
});

test.each([
  '',
  'x',
  'MQ',
  Buffer.from('orders:0').toString('base64url'),
  Buffer.from('orders:1').toString('base64'),
  'A'.repeat(1_000_000),
])('rejects a malformed cursor', async (after) => {
  await expect(read({ after })).rejects.toThrow('`after` is not a cursor of `orders`.');
});

test('rejects a cursor of another list', async () => {
  const { endCursor } = await read({}, 'webhookDeliveries');
  await expect(read({ after: endCursor })).rejects.toThrow(InvalidArgumentError);
});
