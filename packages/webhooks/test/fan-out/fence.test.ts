import { toRecordId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { expect, vi } from 'vitest';
import { QueuedAccount } from '../../src/fan-out/queued-account.ts';
import type { RoundPlan } from '../../src/fan-out/round-plan.ts';
import { unblockEntries } from '../../src/fan-out/sql/blocked-queue.ts';
import { countEntryClaims } from '../../src/fan-out/sql/queue.ts';
import { isStaleRound, writeRound } from '../../src/fan-out/sql/round.ts';
import { FencedOutError, type WorkerId } from '../../src/fence/fence.ts';
import { planOf } from '../support/plan-of.ts';
import { seedEvents } from '../support/seed.ts';
import { type FanOutWorld, test, waits } from './fan-out-world.ts';
import { interceptStore } from './faulty-store.ts';

const tables = [
  'webhook_event_queue',
  'webhook_subscription_sequence',
  'webhook_payload',
  'webhook_delivery',
  'webhook_pending_delivery',
  'webhook_failed_delivery',
  'webhook_failure_to_report',
  'webhook_attempt',
];

/** The whole contents of all tables that fan-out writes. */
async function contents(world: FanOutWorld): Promise<unknown> {
  const rows = await Promise.all(
    tables.map((table) => world.rows(`select t::text as row from ${table} t order by t::text`)),
  );
  return Object.fromEntries(tables.map((table, index) => [table, rows[index]]));
}

/** A round that writes into every table. */
async function seedRound(world: FanOutWorld, deliveries = 2): Promise<RoundPlan> {
  const seeded = await world.addAccount(deliveries);
  const rows = await world.rows<{ position: string; eventId: string }>(
    'select position, event_id as "eventId" from webhook_event_queue where event_id is not null order by position',
  );
  const account = new QueuedAccount(seeded.id);
  const entries = rows.map(({ position, eventId }) => ({
    position: Number(position),
    eventId: toRecordId<'WebhookEvent'>(eventId),
    subscriptionId: null,
    claims: 0,
    isCounted: false,
  }));
  const eventIds = entries.map(({ eventId }) => eventId);
  const { subscriptionId } = seeded;
  const { deliveries: planned, ...plan } = planOf(seeded, subscriptionId, eventIds, (index) => ({
    recordId: index === 1 ? null : '4711',
    requestId: `"request" \\ ${index}`,
    isTest: index === 1,
  }));
  const [first, ...others] = planned;
  if (first === undefined) throw new Error('No event was seeded.');
  const { accountId, interfaceName, id: eventId, type: eventType } = first.event;
  return {
    ...plan,
    done: entries.map((entry) => ({ account, entry })),
    deliveries: [{ ...first, payload: null }, ...others],
    payloads: plan.payloads.slice(1),
    deferred: [{ accountId, interfaceName, eventId, subscriptionId, eventType }],
  };
}

async function unblock(database: Database, workerId: WorkerId, { done: [first] }: RoundPlan): Promise<unknown> {
  if (first === undefined) throw new Error('The round has no entry.');
  return unblockEntries(database, workerId, first.account.id, [first.entry.position]);
}

test('writes everything in one statement', async ({ world }) => {
  const plan = await seedRound(world);
  const { deliveryIds, sequencesBefore, storedAllPayloads } = await writeRound(world.workerStore, world.workerId, plan);
  expect({ sequencesBefore, storedAllPayloads }).toEqual({ sequencesBefore: [0], storedAllPayloads: true });
  const [failed, pending] = deliveryIds;
  expect(await world.rows('select delivery_id as id, error, number from webhook_attempt')).toEqual([
    { id: failed, error: 'RENDERING_FAILED', number: 1 },
  ]);
  for (const table of ['webhook_failed_delivery', 'webhook_failure_to_report'])
    expect(await world.rows(`select delivery_id as id from ${table}`)).toEqual([{ id: failed }]);
  expect(
    await world.rows(
      'select delivery_id as id, request_id, is_test, sequence::int, body_bytes, attempts, claimed_at from webhook_pending_delivery',
    ),
  ).toEqual([
    {
      id: pending,
      request_id: '"request" \\ 1',
      is_test: true,
      sequence: 2,
      body_bytes: 6,
      attempts: 0,
      claimed_at: null,
    },
  ]);
  expect(await world.rows('select id, is_test, record_id from webhook_delivery order by sequence')).toEqual([
    { id: failed, is_test: false, record_id: '4711' },
    { id: pending, is_test: true, record_id: null },
  ]);
  expect(await world.rows(`select convert_from(body, 'UTF8') as body from webhook_payload`)).toEqual([
    { body: 'body 1' },
  ]);
  expect(await world.count('webhook_event_queue where event_id is not null and subscription_id is not null')).toBe(1);
  expect(await world.count('webhook_event_queue where event_id is not null')).toBe(1);
});

test.for<[string, (world: FanOutWorld) => Promise<WorkerId>]>([
  [
    'an unknown worker',
    async (world) => {
      const [row] = await world.rows<{ id: WorkerId }>('select (max(id) + 1)::text as id from webhook_worker');
      return row?.id ?? world.workerId;
    },
  ],
  [
    'a worker that was declared dead',
    async (world) => {
      await world.rows('update webhook_worker set alive = false');
      return world.workerId;
    },
  ],
])('%s writes nothing in any table', async ([, workerOf], { world }) => {
  const plan = await seedRound(world);
  await world.rows(`update webhook_event_queue set blocked_on = 'order.placed' where event_id is not null`);
  const workerId = await workerOf(world);
  const before = await contents(world);
  await expect(writeRound(world.workerStore, workerId, plan)).rejects.toThrow(FencedOutError);
  await expect(countEntryClaims(world.workerStore, workerId, plan.done)).rejects.toThrow(FencedOutError);
  await expect(unblock(world.workerStore, workerId, plan)).rejects.toThrow(FencedOutError);
  expect(await contents(world)).toEqual(before);
});

test.for<[string, string]>([
  [
    'is not in the queue',
    'delete from webhook_event_queue where position = (select max(position) from webhook_event_queue)',
  ],
  // After a failover to an asynchronous standby, a position whose transaction was lost is drawn again.
  ['has another event now', 'update webhook_event_queue set event_id = event_id + 1 where event_id is not null'],
  ['has another subscription now', 'update webhook_event_queue set subscription_id = 1 where event_id is not null'],
])('a round with an entry that %s writes nothing', async ([, change], { world }) => {
  const plan = await seedRound(world);
  await world.rows(change);
  const before = await contents(world);
  const error: unknown = await writeRound(world.workerStore, world.workerId, plan).catch((caught: unknown) => caught);
  expect(isStaleRound(error)).toBe(true);
  expect(await contents(world)).toEqual(before);
});

test('a round with a subscription that has no sequence writes nothing, and is refused', async ({ world }) => {
  const plan = await seedRound(world);
  await world.rows('delete from webhook_subscription_sequence');
  const before = await contents(world);
  const error: unknown = await writeRound(world.workerStore, world.workerId, plan).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Error);
  expect(isStaleRound(error)).toBe(false);
  expect(await contents(world)).toEqual(before);
});

test('each statement that writes locks the row of the worker', async ({ world }) => {
  const plan = await seedRound(world);
  for (const run of [
    (database: Database) => countEntryClaims(database, world.workerId, plan.done),
    (database: Database) => writeRound(database, world.workerId, plan),
    (database: Database) => unblock(database, world.workerId, plan),
  ])
    expect((await world.explain(run)).nodeTypes).toContain('LockRows');
});

test('the cost of a round grows in proportion to its deliveries', async ({ world }) => {
  const plan = await seedRound(world, 500);
  const { rowsMax, removedMax } = await world.explain((database) => writeRound(database, world.workerId, plan));
  expect(rowsMax).toBeLessThan(1_000);
  expect(removedMax).toBeLessThan(1_000);
});

test('fan-out that is fenced out drops everything, and offers nothing that was in progress', async ({ world }) => {
  await seedRound(world, 20);
  await world.rows('update webhook_worker set alive = false');
  world.start();
  await vi.waitFor(() => expect(world.ofKind('fan-out-fenced')).toHaveLength(1), waits);
  expect(world.offered).toEqual([]);
  expect(await world.count('webhook_delivery')).toBe(0);
});

test('a round of a worker that was declared dead is not written under its new id', async ({ world }) => {
  await seedRound(world, 3);
  let { workerId } = world;
  const fenced = Promise.withResolvers<void>();
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-events'(run) {
      const rows = await run();
      await world.rows('update webhook_worker set alive = false');
      fanOut.removeAllShards();
      const [row] = await world.rows<{ id: WorkerId }>(
        `insert into webhook_worker (name, leased_until) values ('test', now() + interval '1 hour') returning id`,
      );
      workerId = row?.id ?? workerId;
      fenced.resolve();
      return rows;
    },
  });
  const fanOut = world.start({ store, workerId: () => workerId });
  await fenced.promise;
  await fanOut.stop();
  expect(await world.count('webhook_delivery')).toBe(0);
  expect(world.ofKind('fan-out-fenced')).toEqual([]);
});

test('a round leaves an account that has left since it was read, writes the others, and continues once it is home', async ({
  world,
}) => {
  const [leaving, staying] = [await world.addAccount(), await world.addAccount()];
  let isLeaving = true;
  const store = interceptStore(world.workerStore, {
    async 'fan-out-read-events'(run) {
      if (isLeaving)
        await world.rows('insert into account_home select $1, 1, next_freeze() on conflict do nothing', [leaving.id]);
      return run();
    },
  });
  const accountsOf = async (table: string): Promise<unknown[]> => {
    const rows = await world.rows<{ id: string }>(`select distinct account_id::text as id from ${table}`);
    return rows.map(({ id }) => id);
  };
  world.start({ store });
  await expect.poll(() => world.isQueueEmpty(), waits).toBe(true);
  await world.store.transaction(async (transaction) => {
    for (const account of [leaving, staying]) await seedEvents(transaction, account, 3);
  });
  await expect.poll(() => world.offered.length, waits).toBe(3);
  await expect.poll(() => accountsOf('webhook_event_queue'), waits).toEqual([leaving.id]);
  expect(await accountsOf('webhook_delivery')).toEqual([staying.id]);
  expect(world.ofKind('fan-out-unavailable')).toEqual([]);
  isLeaving = false;
  await world.rows('delete from account_home');
  await expect.poll(() => world.isQueueEmpty(), waits).toBe(true);
  expect(world.offered).toHaveLength(6);
});
