import { expect, vi } from 'vitest';
import { seedAccount, seedEvents, seedSubscription } from '../support/seed.ts';
import { test, waits } from './fan-out-world.ts';

test('fans out in the order of the queue, and numbers the deliveries of each subscription', async ({ world }) => {
  const accounts = [];
  for (let index = 0; index < 3; index += 1) {
    const account = await seedAccount(world.store);
    await world.store.transaction(async (transaction) => {
      for (let number = 0; number <= index; number += 1) await seedSubscription(transaction, account);
      await seedEvents(transaction, account, 40);
    });
    accounts.push(account);
  }
  world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await vi.waitFor(() => expect(world.offered).toHaveLength(240), waits);
  const bySubscription = Map.groupBy(world.offered, ({ subscriptionId }) => subscriptionId);
  expect(bySubscription.size).toBe(6);
  for (const deliveries of bySubscription.values()) {
    expect(deliveries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, i) => String(i + 1)));
    const numbers = deliveries.map(({ body }) => JSON.parse(Buffer.from(body).toString()).data.number);
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  }
  const stored = await world.rows<{ id: string; sequence: string; bytes: number }>(
    `select p.delivery_id as id, d.sequence, length(b.body) as bytes
     from webhook_pending_delivery p
     join webhook_delivery d on d.id = p.delivery_id and d.subscription_id = p.subscription_id and d.sequence = p.sequence
     join webhook_payload b on b.event_id = d.event_id and b.event_version = d.event_version and length(b.body) = p.body_bytes
     order by p.delivery_id`,
  );
  const offered = world.offered.map(({ deliveryId: id, sequence, body }) => ({ id, sequence, bytes: body.length }));
  expect(offered.toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))).toEqual(stored);
  expect(accounts).toHaveLength(3);
});
