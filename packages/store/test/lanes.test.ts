import type { RecordId } from '@deedwire/domain';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, missing, type Connection, untilBlocked } from '@deedwire/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createStore, type Store } from '../src/index.ts';
import {
  finishDeliveries,
  insertAttempts,
  leaseLanes,
  lockHeldLanes,
  refreshLanes,
  renewLanes,
  rescheduleDeliveries,
  selectDueDeliveries,
  selectNextLaneDue,
  type LaneLease,
} from '../src/webhook-dispatch.ts';
import { createMigratedDatabase } from './support/database.ts';
import { fanOut, seedAccount, seedEvents, seedSubscription, type Account } from './support/seed.ts';

let database: TestDatabase;
let store: Store;
/** Changes times, and observes locks. */
let superuser: Connection;
let account: Account;

beforeAll(async () => {
  database = await createMigratedDatabase();
  store = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  superuser = await connect(database.databaseUrl);
});

beforeEach(async () => {
  await superuser.run('truncate organization restart identity cascade');
  account = await seedAccount(store, 'partner');
});

afterAll(async () => {
  await Promise.all([store.close(), superuser.close()]);
  await database.drop();
});

const lease = (owner: string, limit = 10) => leaseLanes(store, { owner, forSeconds: 15, limit });
const passTime = (seconds: number) =>
  superuser.run(
    `update webhook_lane set due_at = due_at - make_interval(secs => $1), leased_until = leased_until - make_interval(secs => $1)`,
    [seconds],
  );
const lanes = () =>
  superuser.run(
    `select subscription_id, owner, fencing_token, due_at is not null as due from webhook_lane order by subscription_id`,
  );

/** Creates subscriptions, each with due deliveries. */
async function seed(subscriptions: number, events: number): Promise<RecordId<'WebhookSubscription'>[]> {
  const ids: RecordId<'WebhookSubscription'>[] = [];
  for (let index = 0; index < subscriptions; index += 1) ids.push(await seedSubscription(store, account));
  await store.transaction((transaction) => seedEvents(transaction, account, events));
  if (events > 0) await store.transaction((transaction) => fanOut(transaction, account));
  return ids;
}

const take = (lease_: LaneLease | undefined, slots: number, inFlight: RecordId<'WebhookDelivery'>[] = []) =>
  selectDueDeliveries(store, [{ subscriptionId: lease_?.subscriptionId ?? missing(), slots }], inFlight);

test('leases a lane to one owner at a time, with a new fencing token for each', async () => {
  const [subscriptionId = missing()] = await seed(1, 1);
  expect(await lease('a')).toEqual([{ subscriptionId, fencingToken: '1' }]);
  expect(await lease('b')).toEqual([]);
  await passTime(16);
  expect(await lease('b')).toEqual([{ subscriptionId, fencingToken: '2' }]);
});

test('leases at most `limit` due lanes, the longest due first', async () => {
  const [first = missing(), second = missing(), third = missing(), paused = missing()] = await seed(4, 1);
  await superuser.run(`update webhook_lane set due_at = now() - interval '2 minutes' where subscription_id = $1`, [
    second,
  ]);
  await superuser.run(`update webhook_lane set due_at = now() - interval '1 minute' where subscription_id = $1`, [
    first,
  ]);
  await superuser.run(`update webhook_lane set due_at = now() + interval '1 minute' where subscription_id = $1`, [
    third,
  ]);
  await superuser.run(`update webhook_lane set active = false where subscription_id = $1`, [paused]);
  expect(await lease('a', 1)).toMatchObject([{ subscriptionId: second }]);
  expect(await lease('a')).toMatchObject([{ subscriptionId: first }]);
  expect(await lease('a')).toEqual([]);
});

test('leases each lane once when several owners lease at the same time', async () => {
  const ids = await seed(12, 1);
  const leased = await Promise.all(Array.from({ length: 6 }, (_, index) => lease(`owner-${index}`, 5)));
  const subscriptionIds = leased.flat().map(({ subscriptionId }) => subscriptionId);
  expect(subscriptionIds.toSorted()).toEqual(ids.toSorted());
});

test('skips lanes that another transaction is leasing, without waiting', async () => {
  const ids = await seed(3, 1);
  await store.transaction(async (transaction) => {
    const first = await leaseLanes(transaction, { owner: 'a', forSeconds: 15, limit: 2 });
    const second = await lease('b');
    expect([...first, ...second].map(({ subscriptionId }) => subscriptionId).toSorted()).toEqual(ids.toSorted());
    expect(second).toHaveLength(1);
  });
});

test('renews a lease only for its current token, before it expires, and while the lane is active', async () => {
  await seed(1, 1);
  const [old] = await lease('a');
  if (old === undefined) throw new Error('No lease.');
  await passTime(10);
  expect(await renewLanes(store, [old], 15)).toEqual([old]);
  await passTime(10);
  expect(await lease('b')).toEqual([]);
  await passTime(6);
  expect(await renewLanes(store, [old], 15)).toEqual([]);
  const [current] = await lease('b');
  if (current === undefined) throw new Error('No lease.');
  expect(await renewLanes(store, [old, current], 15)).toEqual([current]);
  await superuser.run('update webhook_lane set active = false');
  expect(await renewLanes(store, [current], 15)).toEqual([]);
});

test('renewal locks lanes in the same order as fan-out', async () => {
  const ids = await seed(3, 1);
  const held = await lease('a');
  // Another session locks the last lane. A renewal in order holds the first two while it waits.
  await superuser.run('begin');
  await superuser.run('select from webhook_lane where subscription_id = $1 for no key update', [ids[2]]);
  const observer = await connect(database.databaseUrl);
  const renewal = renewLanes(store, held.toReversed(), 15);
  await untilBlocked(observer);
  const free = await observer.run('select subscription_id from webhook_lane for no key update skip locked');
  expect(free).toEqual([]);
  await superuser.run('commit');
  expect(await renewal).toHaveLength(3);
  await observer.close();
});

test('does not lock a lane under an old token', async () => {
  await seed(2, 1);
  const old = await lease('a');
  await passTime(16);
  const current = await lease('b');
  expect(await store.transaction((transaction) => lockHeldLanes(transaction, [...old, ...current]))).toEqual(
    current.toSorted((a, b) => (BigInt(a.subscriptionId) < BigInt(b.subscriptionId) ? -1 : 1)),
  );
  expect(await store.transaction((transaction) => lockHeldLanes(transaction, old))).toEqual([]);
});

test('locks a lane after its lease has expired, until another owner acquires it', async () => {
  await seed(1, 1);
  const held = await lease('a');
  await passTime(60);
  expect(await store.transaction((transaction) => lockHeldLanes(transaction, held))).toEqual(held);
});

test('takes at most `slots` deliveries, and none in flight', async () => {
  await seed(1, 5);
  const [held] = await lease('a');
  const first = await take(held, 2);
  expect(first.map(({ sequence }) => sequence)).toEqual(['1', '2']);
  const second = await take(
    held,
    2,
    first.map(({ deliveryId }) => deliveryId),
  );
  expect(second.map(({ sequence }) => sequence)).toEqual(['3', '4']);
  expect(
    await take(
      held,
      16,
      [...first, ...second].map(({ deliveryId }) => deliveryId),
    ),
  ).toHaveLength(1);
});

test('takes a different number from each lane', async () => {
  const [a = missing(), b = missing()] = await seed(2, 5);
  const rows = await selectDueDeliveries(
    store,
    [
      { subscriptionId: a, slots: 1 },
      { subscriptionId: b, slots: 4 },
    ],
    [],
  );
  expect(rows.filter((row) => row.subscriptionId === a)).toHaveLength(1);
  expect(rows.filter((row) => row.subscriptionId === b)).toHaveLength(4);
});

test('takes no delivery that is not due, or of a paused or deleted subscription', async () => {
  const [subscriptionId] = await seed(1, 3);
  const [held] = await lease('a');
  await superuser.run(`update webhook_pending_delivery set due_at = now() + interval '1 minute' where sequence = 1`);
  expect(await take(held, 16)).toHaveLength(2);
  await superuser.run(`update webhook_subscription set paused_at = now(), paused_reason = 'OWNER' where id = $1`, [
    subscriptionId,
  ]);
  expect(await take(held, 16)).toEqual([]);
  await superuser.run(
    `update webhook_subscription set paused_at = null, paused_reason = null, deleted_at = now() where id = $1`,
    [subscriptionId],
  );
  expect(await take(held, 16)).toEqual([]);
});

test('sets the due time of a settled lane to its next delivery, and releases it', async () => {
  const [subscriptionId = missing()] = await seed(1, 2);
  const [held] = await lease('a');
  const [one, two] = await take(held, 2);
  await store.transaction(async (transaction) => {
    await finishDeliveries(transaction, [{ id: one?.deliveryId ?? missing(), status: 'DELIVERED' }]);
    await rescheduleDeliveries(transaction, [{ id: two?.deliveryId ?? missing(), attempts: 1, delayMs: 60_000 }]);
    await refreshLanes(transaction, [subscriptionId], []);
  });
  expect(await lanes()).toMatchObject([{ owner: 'a', due: true }]);
  expect(await superuser.run('select delivery_id, attempts from webhook_pending_delivery')).toEqual([
    { delivery_id: two?.deliveryId, attempts: 1 },
  ]);
  await store.transaction((transaction) => refreshLanes(transaction, [subscriptionId], [subscriptionId]));
  expect(await lanes()).toMatchObject([{ owner: null, due: true, fencing_token: '1' }]);
  expect(await lease('b')).toEqual([]);
  const dueInMs = await selectNextLaneDue(store);
  expect(dueInMs).toBeGreaterThan(30_000);
  // The database rounds times to milliseconds.
  expect(dueInMs).toBeLessThanOrEqual(60_001);

  await store.transaction(async (transaction) => {
    await finishDeliveries(transaction, [{ id: two?.deliveryId ?? missing(), status: 'FAILED' }]);
    await refreshLanes(transaction, [subscriptionId], []);
  });
  expect(await lanes()).toMatchObject([{ due: false }]);
  expect(await selectNextLaneDue(store)).toBeNull();
});

test('counts a leased lane as due when its lease expires', async () => {
  await seed(1, 1);
  // The database rounds times to milliseconds.
  expect(await selectNextLaneDue(store)).toBeLessThanOrEqual(1);
  await lease('a');
  const dueInMs = await selectNextLaneDue(store);
  expect(dueInMs).toBeGreaterThan(5_000);
  expect(dueInMs).toBeLessThanOrEqual(15_001);
});

test('keeps an attempt that was already recorded', async () => {
  await seed(1, 1);
  const [{ deliveryId } = missing()] = await take((await lease('a'))[0], 1);
  const attempt = { number: 1, startedAt: new Date(), durationMs: 7, responseStatus: 200, error: null };
  await insertAttempts(store, [{ deliveryId, ...attempt }]);
  await insertAttempts(store, [
    { deliveryId, ...attempt, durationMs: 8 },
    { deliveryId, ...attempt, number: 2 },
  ]);
  expect(await superuser.run('select number, duration_ms from webhook_attempt order by number')).toEqual([
    { number: 1, duration_ms: 7 },
    { number: 2, duration_ms: 7 },
  ]);
});

test('loses no due time when fan-out commits while settling waits for the lane', async () => {
  const [subscriptionId = missing()] = await seed(1, 1);
  const [held] = await lease('a');
  const [delivery] = await take(held, 1);
  if (held === undefined || delivery === undefined) throw new Error('Nothing to settle.');

  // Fan-out holds the lane and has not committed its new delivery.
  await store.transaction((transaction) => seedEvents(transaction, account, 1));
  const mayCommit = Promise.withResolvers<void>();
  const hasInserted = Promise.withResolvers<void>();
  const fanningOut = store.transaction(async (transaction) => {
    await fanOut(transaction, account);
    hasInserted.resolve();
    await mayCommit.promise;
  });
  await hasInserted.promise;

  // Settling finishes the lane's only other delivery and releases the lane. It waits for fan-out.
  const settling = store.transaction(async (transaction) => {
    const locked = await lockHeldLanes(transaction, [held]);
    await finishDeliveries(transaction, [{ id: delivery.deliveryId, status: 'DELIVERED' }]);
    await refreshLanes(transaction, [subscriptionId], [subscriptionId]);
    return locked;
  });
  await untilBlocked(superuser);
  mayCommit.resolve();
  await fanningOut;
  expect(await settling).toEqual([held]);

  expect(await lease('b')).toEqual([{ subscriptionId, fencingToken: '2' }]);
  expect(await take({ subscriptionId, fencingToken: '2' }, 16)).toMatchObject([{ sequence: '2' }]);
});

test('loses no due time when settling commits while fan-out waits for the lane', async () => {
  const [subscriptionId = missing()] = await seed(1, 1);
  const [held] = await lease('a');
  const [delivery] = await take(held, 1);
  if (held === undefined || delivery === undefined) throw new Error('Nothing to settle.');
  await store.transaction((transaction) => seedEvents(transaction, account, 1));
  const mayCommit = Promise.withResolvers<void>();
  const hasRefreshed = Promise.withResolvers<void>();
  const settling = store.transaction(async (transaction) => {
    await lockHeldLanes(transaction, [held]);
    await finishDeliveries(transaction, [{ id: delivery.deliveryId, status: 'DELIVERED' }]);
    await refreshLanes(transaction, [subscriptionId], [subscriptionId]);
    hasRefreshed.resolve();
    await mayCommit.promise;
  });
  await hasRefreshed.promise;
  const fanningOut = store.transaction((transaction) => fanOut(transaction, account));
  await untilBlocked(superuser);
  mayCommit.resolve();
  await Promise.all([settling, fanningOut]);
  expect(await lease('b')).toEqual([{ subscriptionId, fencingToken: '2' }]);
});
