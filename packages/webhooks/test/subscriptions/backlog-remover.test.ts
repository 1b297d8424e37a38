import type { Statement, Store } from '@deedwire/store';
import { eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BacklogEvent } from '../../src/events.ts';
import { ExchangeEraser } from '../../src/exchanges/exchange-eraser.ts';
import { type SubscriptionId, type LaneId, shardOf } from '../../src/kernel/ids.ts';
import { BacklogRemover } from '../../src/subscriptions/backlog-remover.ts';
import { failure, StorageWorld } from '../dispatch-storage/support.ts';
import { setTimer } from '../support/set-timer.ts';

let remover: BacklogRemover;
let events: BacklogEvent[];
/** The statements of the remover with their values, in order. */
let calls: { name: string; values: readonly unknown[] }[];
/** Called before each statement. */
let onStatement: (name: string) => Promise<void> | void;

const world = await forFile(StorageWorld.create());

function createRemover(): BacklogRemover {
  const query: Store['query'] = async ({ name, ...statement }: Statement, values) => {
    calls.push({ name, values });
    await onStatement(name);
    return world.store.query({ name, ...statement }, values);
  };
  const store = { ...world.store, query };
  return new BacklogRemover({
    store,
    eraserOf: (id) => new ExchangeEraser(store, id),
    clock: { setTimer },
    workerId: () => world.workerId,
    onFenced: () => void calls.push({ name: 'fenced', values: [] }),
    onEvent: (event) => void events.push(event),
  });
}

beforeEach(() => {
  [events, calls, onStatement] = [[], [], () => {}];
  remover = createRemover();
});
afterEach(() => remover.stop());

/** Deletes a subscription that has pending deliveries and a receiver that has failed. */
async function deletedLane(deliveries: number): Promise<LaneId> {
  const lane = await world.addLane();
  await world.addDeliveries(lane, deliveries);
  await world.admin.run(
    `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes)
     values ($1, 1, 1, 0)`,
    [lane],
  );
  await world.delete(lane);
  return { subscriptionId: lane, accountId: world.account.id };
}

async function left({ subscriptionId }: LaneId): Promise<unknown> {
  const [row] = await world.admin.run(
    `select (select count(*)::int from webhook_pending_delivery where subscription_id = $1) as pending,
       (select count(*)::int from webhook_receiver_state where subscription_id = $1) as receivers,
       (select count(*)::int from webhook_deleted_backlog where subscription_id = $1) as notes`,
    [subscriptionId],
  );
  return row;
}

const noWriters = Promise.resolve();
const nothing = { pending: 0, receivers: 0, notes: 0 };
const callsOf = (name: string, id: SubscriptionId) =>
  calls.filter((call) => call.name === name && call.values.includes(id));

test('each batch starts after the last one', async () => {
  const lane = await deletedLane(2_500);
  const other = await world.seedLane(1);
  await remover.remove(lane, noWriters);
  await eventually(async () => expect(await left(lane)).toEqual(nothing));
  const starts = callsOf('select-pending-of-deleted', lane.subscriptionId).map(({ values }) =>
    BigInt(String(values[1])),
  );
  expect(starts).toHaveLength(3);
  expect(starts).toEqual([...new Set(starts)].toSorted((a, b) => (a < b ? -1 : 1)));
  expect(events).toEqual([{ kind: 'backlog-removed', subscription: lane.subscriptionId, deliveries: 2_500 }]);
  expect(await world.counts(other.lane)).toMatchObject({ pending: 1 });
});

test('resolves before the deliveries are deleted, and takes a batch of each backlog in turn', async () => {
  const [large, small] = [await deletedLane(3_000), await deletedLane(1)];
  const held = Promise.withResolvers<void>();
  onStatement = (name) => (name === 'select-pending-of-deleted' ? held.promise : undefined);
  await remover.remove(large, noWriters);
  await remover.remove(small, noWriters);
  expect(await left(large)).toEqual({ pending: 3_000, receivers: 1, notes: 1 });
  held.resolve();
  await eventually(() => expect(events).toHaveLength(2));
  expect(events.map((event) => 'subscription' in event && event.subscription)).toEqual([
    small.subscriptionId,
    large.subscriptionId,
  ]);
});

test('deletes a delivery that a result reschedules meanwhile', async () => {
  const lane = await world.addLane();
  await world.addDeliveries(lane, 3);
  const [delivery] = await world.read(lane);
  await world.delete(lane);
  await world.admin.run('begin');
  await world.admin.run('select from webhook_pending_delivery where delivery_id = $1 for update', [
    delivery?.deliveryId,
  ]);
  if (delivery === undefined) throw new Error('There is no delivery.');
  const settled = world.storage.settle([failure(delivery, 60_000)]);
  const id = { subscriptionId: lane, accountId: world.account.id };
  await remover.remove(id, noWriters);
  await eventually(async () => expect(await left(id)).toMatchObject({ pending: 1, notes: 1 }));
  await world.admin.run('commit');
  await settled;
  await eventually(async () => expect(await left(id)).toEqual(nothing));
});

test('begins after the writers that were in progress, whose deliveries it deletes', async () => {
  const [lane, other] = [await deletedLane(1), await deletedLane(1)];
  const writers = Promise.withResolvers<void>();
  await remover.remove(lane, writers.promise);
  await remover.remove(other, noWriters);
  await eventually(async () => expect(await left(other)).toEqual(nothing));
  expect(await left(lane)).toEqual({ pending: 1, receivers: 1, notes: 1 });
  await world.addDeliveries(lane.subscriptionId, 5);
  writers.resolve();
  await eventually(async () => expect(await left(lane)).toEqual(nothing));
});

test('a row that stays locked does not delay other backlogs, and is retried at long intervals', async () => {
  const [locked, other] = [await deletedLane(2), await deletedLane(2_500)];
  await world.admin.run('begin');
  await world.admin.run('select from webhook_pending_delivery where subscription_id = $1 for update', [
    locked.subscriptionId,
  ]);
  await remover.remove(locked, noWriters);
  await remover.remove(other, noWriters);
  await eventually(async () => expect(await left(other)).toEqual(nothing));
  expect(callsOf('delete-pending-of-deleted', locked.subscriptionId).length).toBeLessThan(5);
  await world.admin.run('rollback');
  await eventually(async () => expect(await left(locked)).toEqual(nothing));
});

/** Resolves while the first batch is deleted. */
async function startRemoving(lane: LaneId): Promise<void> {
  const started = Promise.withResolvers<void>();
  onStatement = (name) => void (name === 'delete-pending-of-deleted' && started.resolve());
  await remover.remove(lane, noWriters);
  await started.promise;
}

test('the next owner of the shard continues', async () => {
  const lane = await deletedLane(2_000);
  await startRemoving(lane);
  await remover.stop();
  expect(await left(lane)).toEqual({ pending: 1_000, receivers: 1, notes: 1 });
  remover = createRemover();
  remover.addShard(shardOf(lane.accountId));
  await eventually(async () => expect(await left(lane)).toEqual(nothing));
});

test('stops with a shard that is released', async () => {
  const lane = await deletedLane(5_000);
  await startRemoving(lane);
  await remover.removeShard(shardOf(lane.accountId));
  const before = calls.length;
  expect(await left(lane)).toMatchObject({ receivers: 1, notes: 1 });
  await remover.remove(await deletedLane(1), noWriters);
  await eventually(() => expect(events).toHaveLength(1));
  expect(calls.slice(before).filter(({ values }) => values.includes(lane.subscriptionId))).toEqual([]);
});

test('a worker that was declared dead removes nothing', async () => {
  const lane = await deletedLane(1);
  onStatement = async (name) => {
    if (name === 'select-pending-of-deleted') await world.declareDead();
  };
  await remover.remove(lane, noWriters);
  await eventually(() => expect(calls.at(-1)?.name).toBe('fenced'));
  expect(await left(lane)).toEqual({ pending: 1, receivers: 1, notes: 1 });
  await world.admin.run('update webhook_worker set alive = true');
});

test('erases what the attempts of the deleted subscription sent and received, in bounded steps, and of no other one', async () => {
  const [deleted, other] = [await world.addLane(), await world.addLane()];
  for (const lane of [deleted, other]) {
    await world.admin.run(
      `with delivery as (
         insert into webhook_delivery (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at,
           sequence)
         select new_record_id() - (number % 2) * (86400000::bigint << 22), s.id, s.account_id, s.interface, 1, 'order.placed',
           '2026-11-01', now(), number
         from webhook_subscription s, generate_series(1, 500) number
         where s.id = $1
         returning id, subscription_id, interface
       )
       insert into webhook_exchange (delivery_id, number, started_at, subscription_id, interface, request_headers,
         response_headers, body, body_bytes)
       select id, number, now(), subscription_id, interface, '{}', '{}', '\\x6162', 2
       from delivery, generate_series(1, 2) number`,
      [lane],
    );
  }
  const countOf = async (lane: SubscriptionId): Promise<unknown> =>
    (
      await world.admin.run('select count(*)::int as count from webhook_exchange where subscription_id = $1', [lane])
    )[0]?.['count'];
  expect([await countOf(deleted), await countOf(other)]).toEqual([1_000, 1_000]);
  // Only those of deleted subscriptions.
  await world.store.query(
    {
      name: 'test-erase',
      text: `select webhook_erase_exchanges($1, array(select id from webhook_delivery limit 1000))`,
    },
    [other],
  );
  expect(await countOf(other)).toBe(1_000);
  await world.delete(deleted);
  const lane = { subscriptionId: deleted, accountId: world.account.id };
  await remover.remove(lane, noWriters);
  await eventually(async () => expect(await left(lane)).toEqual(nothing));
  expect([await countOf(deleted), await countOf(other)]).toEqual([0, 1_000]);
  const batches = callsOf('erase-exchanges', deleted).map(({ values }) => String(values[1]).split(',').length);
  expect(Math.max(...batches)).toBe(200);
});

const leftOf = async (...ids: SubscriptionId[]): Promise<unknown[]> =>
  (await world.admin.run('select id from webhook_subscription where id = any ($1) order by id', [ids])).map(
    ({ id }) => id,
  );

/** A subscription that had deliveries, which have been dropped. */
async function addOld(): Promise<SubscriptionId> {
  const id = await world.addLane();
  await world.admin.run('update webhook_subscription_sequence set last_sequence = 3 where subscription_id = $1', [id]);
  await world.delete(id);
  await world.admin.run(`update webhook_subscription set deleted_at = now() - interval '50 days' where id = $1`, [id]);
  return id;
}

const addReplay = (id: SubscriptionId) =>
  world.admin.run(
    `insert into webhook_replay (account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id,
       ended_at)
     select account_id, interface, id, true, 1, 1, 1, 0, now() from webhook_subscription where id = $1`,
    [id],
  );

describe('the rows of deleted subscriptions', () => {
  beforeEach(() =>
    world.admin.run(
      `update webhook_retention
       set expired_before = (extract(epoch from now() - interval '40 days' - timestamptz '2026-01-01Z') * 1000)::bigint << 22`,
    ),
  );

  test('are deleted with the backlog, unless there was a delivery or a replay', async () => {
    const [without, delivered, replayed] = [await world.addLane(), await world.addLane(), await world.addLane()];
    await world.admin.run('update webhook_subscription_sequence set last_sequence = 1 where subscription_id = $1', [
      delivered,
    ]);
    await addReplay(replayed);
    for (const id of [without, delivered, replayed]) {
      await world.delete(id);
      await remover.remove({ subscriptionId: id, accountId: world.account.id }, noWriters);
    }
    await eventually(() => expect(events).toHaveLength(3));
    expect(await leftOf(without, delivered, replayed)).toEqual([delivered, replayed]);
  });

  test('are deleted in batches once their deliveries have been dropped, and those of other subscriptions never', async () => {
    const old: SubscriptionId[] = [];
    for (let number = 0; number < 230; number += 1) old.push(await addOld());
    const [replayed, noted, recent, active] = [await addOld(), await addOld(), await addOld(), await world.addLane()];
    await addReplay(replayed);
    await world.admin.run(`update webhook_subscription set deleted_at = now() - interval '47 days' where id = $1`, [
      recent,
    ]);
    // Another worker is about to begin.
    await world.admin.run(
      'insert into webhook_deleted_backlog (account_id, subscription_id) select account_id, id from webhook_subscription where id = $1',
      [noted],
    );
    onStatement = (name) => (name === 'select-deleted-backlogs' ? Promise.reject(new Error('refused')) : undefined);
    remover.addShard(shardOf(world.account.id));
    await eventually(async () => expect(await leftOf(...old)).toEqual([]));
    expect(await leftOf(replayed, noted, recent, active)).toEqual([replayed, noted, recent, active]);
    const batches = calls.filter(({ name }) => name === 'forget-subscriptions').map(({ values }) => values[1]);
    expect(batches.map((ids) => String(ids).split(',').length)).toEqual([100, 100, 31]);
  });

  test('stay while another transaction holds one, which delays no others', async () => {
    const [held, other] = [await addOld(), await addOld()];
    const [heldNew, otherNew] = [await world.addLane(), await world.addLane()];
    await world.admin.run('begin');
    await world.admin.run('delete from webhook_subscription_event_type where subscription_id = any ($1)', [
      [held, heldNew],
    ]);
    try {
      for (const id of [heldNew, otherNew]) {
        await world.delete(id);
        await remover.remove({ subscriptionId: id, accountId: world.account.id }, noWriters);
      }
      remover.addShard(shardOf(world.account.id));
      await eventually(async () => expect(await leftOf(held, other, heldNew, otherNew)).toEqual([held, heldNew]));
    } finally {
      await world.admin.run('rollback');
    }
  });

  test('stay if the worker was declared dead, or its shard is released', async () => {
    const id = await addOld();
    const shard = shardOf(world.account.id);
    const selected = Promise.withResolvers<void>();
    onStatement = (name) => (name === 'select-forgettable-subscriptions' ? selected.promise : undefined);
    remover.addShard(shard);
    const released = remover.removeShard(shard);
    selected.resolve();
    await released;
    onStatement = async (name) => {
      if (name === 'forget-subscriptions') await world.declareDead();
    };
    remover.addShard(shard);
    await eventually(() => expect(calls.at(-1)?.name).toBe('fenced'));
    expect(await leftOf(id)).toEqual([id]);
    await world.admin.run('update webhook_worker set alive = true');
  });
});
