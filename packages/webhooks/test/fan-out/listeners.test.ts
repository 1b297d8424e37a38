import { expect, vi } from 'vitest';
import type { ListenerId } from '../../src/kernel/ids.ts';
import { samplePin, seedAccount, type SeededAccount, seedListener } from '../support/seed.ts';
import { type FanOutWorld, laterRenderer, test, waits } from './fan-out-world.ts';

async function listen(world: FanOutWorld, account: SeededAccount, version: string): Promise<ListenerId> {
  return world.store.transaction((transaction) => seedListener(transaction, account, [{ ...samplePin, version }]));
}

/** What is stored of the deliveries of a listener, by sequence. */
const stored = (world: FanOutWorld, id: ListenerId) =>
  world.rows(
    `select d.sequence, d.event_version as version, convert_from(p.body, 'UTF8')::json -> 'data' ->> 'number' as number,
       exists (select from webhook_failed_delivery f where f.delivery_id = d.id) as "hasFailed"
     from webhook_delivery d
     left join webhook_payload p on p.event_id = d.event_id and p.event_version = d.event_version
     where d.subscription_id = $1
     order by d.sequence`,
    [id],
  );

const isPending = async (world: FanOutWorld, id: ListenerId): Promise<boolean> =>
  (await world.rows('select from webhook_pending_delivery where subscription_id = $1', [id])).length > 0;

test('numbers and stores the deliveries of a listener at its pin, beside those that are sent, and queues none', async ({
  world,
}) => {
  const account = await seedAccount(world.store);
  const before = await listen(world, account, 'v2');
  const subscription = await world.subscribe(account, '2026-11-01');
  await world.addEvents(account, 3);
  const after = await listen(world, account, '2026-11-01');
  world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  await vi.waitFor(() => expect(world.offered).toHaveLength(3), waits);
  expect(new Set(world.offered.map(({ subscriptionId }) => subscriptionId))).toEqual(new Set([subscription]));
  expect(new Set(world.expected.map(({ subscriptionId }) => subscriptionId))).toEqual(new Set([subscription]));
  expect(await stored(world, before)).toEqual(
    ['1', '2', '3'].map((number) => ({ sequence: number, version: 'v2', number, hasFailed: false })),
  );
  // It gets the events since its creation.
  expect(await stored(world, after)).toEqual([]);
  expect([await isPending(world, before), await isPending(world, after)]).toEqual([false, false]);
  expect(await world.count('webhook_pending_delivery')).toBe(3);
});

test('an event that cannot be rendered has failed, with its number, and no alert reports it', async ({ world }) => {
  const account = await seedAccount(world.store);
  const id = await listen(world, account, 'broken');
  await world.addEvents(account, 2);
  world.start();
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  expect(await stored(world, id)).toEqual(
    ['1', '2'].map((sequence) => ({ sequence, version: 'broken', number: null, hasFailed: true })),
  );
  expect(await world.count('webhook_failure_to_report')).toBe(0);
});

test('events at a version that this build does not know wait for a build that does, and are skipped once it is retired', async ({
  world,
}) => {
  const account = await seedAccount(world.store);
  const id = await listen(world, account, 'unknown');
  const retired = await listen(world, account, 'unknown');
  await world.rows(`update webhook_subscription set paused_reason = 'VERSION_RETIRED' where id = $1`, [retired]);
  await world.addEvents(account, 2);
  const first = world.start();
  await vi.waitFor(async () => expect(await world.countBlocked()).toBe(2), waits);
  await first.stop();
  expect(await stored(world, id)).toEqual([]);

  world.start({ render: laterRenderer });
  await vi.waitFor(async () => expect(await world.isQueueEmpty()).toBe(true), waits);
  expect(await stored(world, id)).toEqual(
    ['1', '2'].map((number) => ({ sequence: number, version: 'unknown', number, hasFailed: false })),
  );
  expect(await stored(world, retired)).toEqual([]);
  expect(world.offered).toEqual([]);
  expect(await world.count('webhook_pending_delivery')).toBe(0);
});
