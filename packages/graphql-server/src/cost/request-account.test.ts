import type { AuthenticatedClient } from '@deedwire/auth';
import { expect, test } from 'vitest';
import { createClientSlots, createClientTurns } from './client-slots.ts';
import { createCostBuckets } from './cost-buckets.ts';
import { RequestAccount } from './request-account.ts';

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
  const shared = { buckets, limits, slots, turns: createClientTurns(4) };
  const slotOf = (isOpen: () => boolean) => new RequestAccount(shared, client, { isOpen }).slot();
  const leave = await slotOf(() => true);
  let isOpen = true;
  const gone = slotOf(() => isOpen);
  const next = slotOf(() => true);
  isOpen = false;
  leave();
  await expect(gone).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(await next).toBeTypeOf('function');
});
