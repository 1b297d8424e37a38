import type { AuthenticatedClient } from '@deedwire/auth';
import { expect, test } from 'vitest';
import { createClientSlots } from './client-slots.ts';
import { createClientTurns } from './client-turns.ts';
import { createCostBuckets } from './cost-buckets.ts';
import { openRequestAccount } from './request-account.ts';

const client = { clientId: 'a', costLimit: { maximum: 1_000, restoreRate: 10 } } as AuthenticatedClient;
const buckets = createCostBuckets({ settle: async () => ({ granted: 0, points: 0 }) });
const limits = {
  operationCostPoints: 1_000,
  requestBodyBytesPerPoint: 500,
  queryBytesPerPoint: 100,
  rejectedQueryBytesPerPoint: 10,
  rejectedQueryMinimumPoints: 40,
};

test('an operation whose client has gone while it waited does not run, and the next one does', async () => {
  const slots = createClientSlots({ perClient: 1 });
  const slotOf = (isOpen: () => boolean) =>
    openRequestAccount(buckets, client, limits, { turns: createClientTurns(4), slots, isOpen }).slot();
  const leave = await slotOf(() => true);
  let isOpen = true;
  const gone = slotOf(() => isOpen);
  const next = slotOf(() => true);
  isOpen = false;
  leave();
  await expect(gone).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await next).toBeTypeOf('function');
});

test('an account has no getter of its own, which V8 would keep with the request until the next full collection', () => {
  const slots = createClientSlots({ perClient: 1 });
  const shares = { turns: createClientTurns(4), slots, isOpen: () => true };
  const descriptors = Object.entries(
    Object.getOwnPropertyDescriptors(openRequestAccount(buckets, client, limits, shares)),
  );
  expect(descriptors.filter(([, descriptor]) => !('value' in descriptor))).toEqual([]);
});
