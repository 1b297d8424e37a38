import { toRecordId } from '@deedwire/core';
import { createStore } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { FencedOutError, type WorkerId } from '../../src/fence/fence.ts';
import { type DeliveryId, type SubscriptionId, shardOf } from '../../src/kernel/ids.ts';
import {
  deleteDeletedBacklog,
  deletePendingOfDeleted,
  insertDeletedBacklog,
  selectDeletedBacklogs,
  selectPendingOfDeleted,
} from '../../src/subscriptions/deleted-backlogs.ts';
import { selectForgettable } from '../../src/subscriptions/forgotten-subscriptions.ts';
import { pauseRetiredSubscriptions } from '../../src/subscriptions/pause-retired-subscriptions.ts';
import { readPins } from '../../src/subscriptions/read-pins.ts';
import { explain } from '../dispatch-storage/explain.ts';
import { deliveryId } from '../dispatch/ids.ts';
import { createServiceDatabase, samplePin, seedAccount, seedSubscription, seedWorker } from '../support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
/** Has the rights of the worker. */
const worker = await forFile(
  createStore({ databaseUrl: await database.urlFor('webhook_worker'), applicationName: 'test' }),
);
const workerId = await seedWorker(store);

beforeEach(async () => {
  await superuser.run('delete from webhook_event_queue');
  await superuser.run('update webhook_worker set alive = true');
});

const retired = { type: samplePin.type, version: '2020-01-01' };

const set = (id: SubscriptionId, assignments: string) =>
  superuser.run(`update webhook_subscription set ${assignments} where id = $1`, [id]);
const subscribe = async (account: Awaited<ReturnType<typeof seedAccount>>, pins = [samplePin]) =>
  store.transaction((transaction) => seedSubscription(transaction, account, { pins }));

test('reads the pins of several accounts, without deleted subscriptions', async () => {
  const [one, two, none] = [await seedAccount(store), await seedAccount(store, 'supplier'), await seedAccount(store)];
  const other = { type: 'webhook.test', version: '2026-11-01' };
  const first = await subscribe(one, [samplePin, other]);
  const second = await subscribe(one, []);
  const deleted = await subscribe(one);
  const third = await subscribe(two);
  await set(deleted, 'deleted_at = now()');
  await set(second, `paused_reason = 'OWNER', paused_at = now()`);
  const pins = await readPins(worker, [one.id, two.id, none.id]);
  expect([...pins.keys()].toSorted()).toEqual([one.id, two.id].toSorted());
  expect(pins.get(one.id)).toEqual({
    accountId: one.id,
    interfaceName: 'customer',
    subscriptions: [
      {
        id: first,
        queuePosition: expect.any(Number),
        pausedReason: null,
        isListener: false,
        versions: new Map([samplePin, other].map(({ type, version }) => [type, version])),
      },
      { id: second, queuePosition: expect.any(Number), pausedReason: 'OWNER', isListener: false, versions: new Map() },
    ],
  });
  expect(pins.get(two.id)).toMatchObject({ interfaceName: 'supplier', subscriptions: [{ id: third }] });
  const [positionOne = 0, positionTwo = 0] = (pins.get(one.id)?.subscriptions ?? []).map((each) => each.queuePosition);
  expect(positionTwo).toBeGreaterThan(positionOne);
});

test('pauses subscriptions on a retired version, including paused ones, and remembers the pause of the owner', async () => {
  const account = await seedAccount(store);
  const active = await subscribe(account, [retired, { type: 'webhook.test', version: '2020-01-01' }]);
  const gone = await subscribe(account, [retired]);
  const ownersPause = await subscribe(account, [retired]);
  const current = await subscribe(account);
  const deleted = await subscribe(account, [retired]);
  await set(gone, `paused_reason = 'GONE', paused_at = '2026-11-01'`);
  await set(ownersPause, `paused_reason = 'OWNER', paused_at = '2026-11-02', owner_paused_at = '2026-11-02'`);
  // As an API of an earlier release leaves it.
  await set(active, `owner_paused_at = '2026-11-03'`);
  await set(deleted, 'deleted_at = now()');
  await superuser.run('delete from webhook_event_queue');

  const notified: unknown[] = [];
  const pause = (limit: number) =>
    worker.transaction((transaction) =>
      pauseRetiredSubscriptions(
        { ...transaction, notifyAfterCommit: (payload) => notified.push(payload) },
        workerId,
        [retired, { type: 'webhook.test', version: '2020-01-01' }],
        limit,
      ),
    );
  const paused = [...(await pause(1)), ...(await pause(1)), ...(await pause(1)), ...(await pause(1))];
  expect(paused.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
    [active, gone, ownersPause].toSorted().map((id) => ({ id, accountId: account.id })),
  );
  expect(notified).toEqual(paused.map(() => String(shardOf(account.id))));
  const changes = await superuser.run(
    'select subscription_id::text as id from webhook_event_queue order by subscription_id',
  );
  expect(changes.map(({ id }) => id)).toEqual([active, gone, ownersPause].toSorted());
  const pins = (await readPins(worker, [account.id])).get(account.id);
  expect(pins?.subscriptions.map(({ id, pausedReason }) => [id, pausedReason])).toEqual(
    [active, gone, ownersPause, current].toSorted().map((id) => [id, id === current ? null : 'VERSION_RETIRED']),
  );
  const times = async (id: string) =>
    (await superuser.run('select paused_at, owner_paused_at from webhook_subscription where id = $1', [id]))[0];
  expect(await times(gone)).toEqual({ paused_at: new Date('2026-11-01T00:00:00Z'), owner_paused_at: null });
  const byOwner = new Date('2026-11-02T00:00:00Z');
  expect(await times(ownersPause)).toEqual({ paused_at: byOwner, owner_paused_at: byOwner });
  expect(await times(active)).toEqual({ paused_at: expect.any(Date), owner_paused_at: null });
});

test('skips a subscription that is being changed until the next call', async () => {
  const account = await seedAccount(store);
  const id = await subscribe(account, [retired]);
  const pause = () =>
    worker.transaction((transaction) => pauseRetiredSubscriptions(transaction, workerId, [retired], 10));
  await store.transaction(async (transaction) => {
    await transaction.query({ name: 'lock', text: 'select from webhook_subscription where id = $1 for update' }, [id]);
    expect(await pause()).toEqual([]);
  });
  expect(await pause()).toEqual([{ id, accountId: account.id }]);
});

/** Pending deliveries whose ids are 1, 2 and so on. */
const addPending = (id: SubscriptionId, accountId: string, count: number) =>
  superuser.run(
    `insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
        due_at, body_bytes)
     select $1, n, $2, 'customer', 1, 'order.placed', '2026-11-01', now(), n, now(), 0
     from generate_series(1, $3::int) n`,
    [id, accountId, count],
  );

test('deletes the listed deliveries of a deleted subscription only, and returns those that are locked', async () => {
  const account = await seedAccount(store);
  const [deleted, other] = [await subscribe(account), await subscribe(account)];
  for (const id of [deleted, other]) await addPending(id, account.id, 25);
  const read = (id: SubscriptionId, after: DeliveryId | null) => selectPendingOfDeleted(worker, id, after, 10);
  const page = await read(deleted, null);
  expect(page).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 1)));
  expect(await deletePendingOfDeleted(worker, workerId, deleted, page)).toEqual([]);
  expect(await read(deleted, null)).toEqual(page);

  await set(deleted, 'deleted_at = now()');
  await superuser.run('begin');
  await superuser.run(
    'select from webhook_pending_delivery where subscription_id = $1 and delivery_id = 3 for update',
    [deleted],
  );
  expect(await deletePendingOfDeleted(worker, workerId, deleted, page)).toEqual(['3']);
  await superuser.run('rollback');
  expect(await read(deleted, deliveryId(10))).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 11)));
  expect(await deletePendingOfDeleted(worker, workerId, deleted, page)).toEqual([]);
  expect(await deletePendingOfDeleted(worker, workerId, other, page)).toEqual([]);
  expect(
    await superuser.run('select subscription_id, count(*)::int from webhook_pending_delivery group by 1 order by 1'),
  ).toEqual([
    { subscription_id: deleted, count: 15 },
    { subscription_id: other, count: 25 },
  ]);
});

test('a backlog is noted once, and read with its shard', async () => {
  const account = await seedAccount(store);
  const lane = { subscriptionId: await subscribe(account), accountId: account.id };
  const shard = shardOf(account.id);
  await insertDeletedBacklog(worker, workerId, lane);
  await insertDeletedBacklog(worker, workerId, lane);
  expect(await selectDeletedBacklogs(worker, shard)).toEqual([lane]);
  expect(await selectDeletedBacklogs(worker, (shard + 1) % 64)).toEqual([]);
  await deleteDeletedBacklog(worker, workerId, lane);
  expect(await selectDeletedBacklogs(worker, shard)).toEqual([]);
});

test('a worker that was declared dead pauses and deletes nothing', async () => {
  const account = await seedAccount(store);
  const id = await subscribe(account, [retired]);
  const deleted = await subscribe(account);
  await set(deleted, 'deleted_at = now()');
  await addPending(deleted, account.id, 1);
  const lane = { subscriptionId: deleted, accountId: account.id };
  await superuser.run('delete from webhook_event_queue');
  const attempt = async (by: WorkerId) => {
    await expect(insertDeletedBacklog(worker, by, lane)).rejects.toThrow(FencedOutError);
    await expect(deletePendingOfDeleted(worker, by, deleted, [deliveryId(1)])).rejects.toThrow(FencedOutError);
    await expect(deleteDeletedBacklog(worker, by, lane)).rejects.toThrow(FencedOutError);
    const pause = worker.transaction((transaction) => pauseRetiredSubscriptions(transaction, by, [retired], 10));
    await expect(pause).rejects.toThrow(FencedOutError);
  };
  await superuser.run('update webhook_worker set alive = false');
  await attempt(workerId);
  await superuser.run('update webhook_worker set alive = true');
  await attempt(toRecordId('999') as string as WorkerId);
  expect(await superuser.run('select paused_reason from webhook_subscription where id = $1', [id])).toEqual([
    { paused_reason: null },
  ]);
  expect(
    await superuser.run('select from webhook_pending_delivery where subscription_id = $1', [deleted]),
  ).toHaveLength(1);
  expect(await superuser.run('select from webhook_event_queue')).toEqual([]);
});

test.each(['generic', 'custom'] as const)(
  'looks for subscriptions to forget among those only that were deleted long ago (%s plan)',
  async (planning) => {
    const account = await seedAccount(store);
    await superuser.run(
      `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position, deleted_at)
       select $1, 'customer', '', '', 0, now() - number % 100 * interval '1 day' from generate_series(1, 5000) number`,
      [account.id],
    );
    await superuser.run(
      `update webhook_retention
       set expired_before = (extract(epoch from now() - interval '50 days' - timestamptz '2026-01-01Z') * 1000)::bigint << 22`,
    );
    await superuser.run('analyze webhook_subscription');
    const shard = shardOf(account.id);
    const page = await selectForgettable(worker, shard, null, 100);
    expect(page).toHaveLength(100);
    const after = page.at(-1) ?? null;
    const plan = await explain(superuser, (recorder) => selectForgettable(recorder, shard, after, 100), planning);
    expect(plan.rowsMax).toBeLessThanOrEqual(100);
    expect(plan.removedMax).toBe(0);
  },
);
