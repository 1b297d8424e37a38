import { idAt, toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { createStore, LockTimeoutError, migrate, type Store } from '@deedwire/store';
import { connect, type Connection, eventually } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LateSuccess, recordLateSuccesses } from '../../src/dispatch/sql/late-successes.ts';
import type { RetentionEvent } from '../../src/events.ts';
import type { WorkerId } from '../../src/fence/fence.ts';
import { expire } from '../../src/retention/expire.ts';
import { type Day, dayOf, startOf } from '../../src/retention/partitions.ts';
import { hold } from '../dispatch-storage/support.ts';
import { createPastPartitions } from '../support/history.ts';
import { seedAccount, type SeededAccount, seedSubscription } from '../support/seed.ts';

const retentionDays = { history: 30, exchanges: 7, replays: 60 };

let database: TestDatabase;
let workerUrl: string;
let store: Store;
let superuser: Connection;
let account: SeededAccount;
/** The day of the rows of these tests. Partitions exist from the day before. The database drops nothing that its clock keeps. */
let today: Day;
const daysAgo = 45;
let events: RetentionEvent[];
let waitsMs: number[];

/** A database whose history began `daysAgo` days ago. */
async function createOldDatabase(): Promise<TestDatabase> {
  return createTestDatabase({
    template: 'old',
    prepare: async (url) => {
      await migrate(url, testService);
      const owner = await connect(url);
      await createPastPartitions(owner, daysAgo + 1);
      await owner.close();
    },
  });
}

beforeEach(async () => {
  database = await createOldDatabase();
  workerUrl = await database.urlFor('webhook_worker');
  store = createStore({ databaseUrl: workerUrl, applicationName: 'test', plansOnceByIndexes: true });
  superuser = await connect(database.databaseUrl);
  const owner = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  account = await seedAccount(owner);
  await owner.close();
  const [row] = await superuser.run('select now()');
  today = dayOf(new Date(String(row?.['now']))) - daysAgo;
  [events, waitsMs] = [[], []];
});

afterEach(async () => {
  await store.close();
  await superuser.close();
  await database.drop();
});

/** Runs retention `days` after noon of the day of the rows. */
async function expireAfter(days: number, using = wait): Promise<void> {
  const now = new Date(startOf(today + days).getTime() + 12 * 3_600_000);
  await expire({ store, retentionDays, wait: using, onEvent: (event) => events.push(event) }, now);
}

/** Does not wait. */
async function wait(ms: number): Promise<boolean> {
  if (ms > 0) waitsMs.push(ms);
  return true;
}

/** As partitions name a day. */
const nameOf = (day: Day): string => startOf(day).toISOString().slice(0, 10).replaceAll('-', '');

/** The id of a record drawn at an hour of the day of the rows. */
const idAtHour = (hour: number): string => idAt(new Date(startOf(today).getTime() + hour * 3_600_000));

/** A pending delivery with its event, payload and one failed attempt. `extra` hours pass between the event and the delivery. */
async function seedDelivery(eventHour: number, extra = 0): Promise<string> {
  const [eventId, id] = [idAtHour(eventHour), idAtHour(eventHour + extra)];
  const values = [id, eventId, account.id];
  await superuser.run(
    `insert into webhook_event (id, account_id, interface, event_type, snapshot) values ($1, $2, 'customer', 't', '{}')`,
    [eventId, account.id],
  );
  await superuser.run(`insert into webhook_payload values ($1, 'v', 'customer', '')`, [eventId]);
  await superuser.run(`insert into webhook_delivery values ($1, $3, 1, 'customer', $2, 't', 'v', now(), 1)`, values);
  await superuser.run(
    `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms)
     values ($1, 1, 1, 'customer', now(), 1)`,
    [id],
  );
  await superuser.run(
    `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
       event_version, occurred_at, sequence, due_at, body_bytes)
     values (1, $1, $3, 'customer', $2, 't', 'v', now(), 1, now(), 0)`,
    values,
  );
  return id;
}

/** How many rows each table has. */
async function counts(): Promise<Record<string, unknown> | undefined> {
  const [row] = await superuser.run(`
    select (select count(*)::int from webhook_event) as events, (select count(*)::int from webhook_payload) as payloads,
      (select count(*)::int from webhook_delivery) as deliveries, (select count(*)::int from webhook_attempt) as attempts,
      (select count(*)::int from webhook_pending_delivery) as pending,
      (select count(*)::int from webhook_failed_delivery) as failed`);
  return row;
}

const untouched = { events: 1, payloads: 1, deliveries: 1, attempts: 1, pending: 1, failed: 0 };
const expiredRows = async (): Promise<unknown[]> =>
  (
    await superuser.run(`
      select f.delivery_id from webhook_failed_delivery f, webhook_retention r where f.delivery_id < r.expired_before`)
  ).map((row) => row['delivery_id']);

test('a delivery expires after 30 days, its event and payload are dropped a day later, and itself 7 days after it has expired', async () => {
  // It is pending, because its subscription is paused.
  const id = await seedDelivery(1);
  await expireAfter(30);
  expect(await counts()).toEqual(untouched);
  expect([events, waitsMs]).toEqual([[], []]);

  await expireAfter(31);
  expect(await counts()).toEqual({ ...untouched, pending: 0, failed: 1 });
  expect(await expiredRows()).toEqual([id]);
  expect(events).toContainEqual({ kind: 'deliveries-expired', count: 1 });
  // The bound of expired deliveries never moves back.
  await expireAfter(10);
  expect(await expiredRows()).toEqual([id]);

  [events, waitsMs] = [[], []];
  await expireAfter(32);
  expect(await counts()).toEqual({ ...untouched, events: 0, payloads: 0, pending: 0, failed: 1 });
  expect(waitsMs).toEqual([10_000]);
  expect(events).toEqual(
    ['event', 'payload'].map((table) => ({ kind: 'partition-dropped', name: `webhook_${table}_${nameOf(today)}` })),
  );

  await expireAfter(37);
  expect(await counts()).toMatchObject({ deliveries: 1, attempts: 1, failed: 1 });
  await expireAfter(38);
  expect(await counts()).toEqual({ events: 0, payloads: 0, deliveries: 0, attempts: 0, pending: 0, failed: 0 });
});

test('drops the details of attempts by their own days, and nothing else', async () => {
  await seedDelivery(1);
  const [{ today: databaseDay } = {}] = await superuser.run(`select (now() at time zone 'UTC')::date::text as today`);
  const nameAgo = (days: number): string =>
    `webhook_exchange_${nameOf(dayOf(new Date(`${String(databaseDay)}T00:00:00Z`)) - days)}`;
  await createPastPartitions(superuser, 9, ['webhook_exchange']);
  await expireAfter(30);
  expect(events).toEqual([8, 9].map((days) => ({ kind: 'partition-dropped', name: nameAgo(days) })).toReversed());
  expect(await counts()).toEqual(untouched);
  expect(await superuser.run('select from pg_class where relname = $1', [nameAgo(7)])).toHaveLength(1);
});

test('expires a younger delivery whose event will be dropped', async () => {
  await seedDelivery(1, 36);
  await expireAfter(31);
  expect(await counts()).toEqual(untouched);
  await expireAfter(32);
  expect(await counts()).toMatchObject({ events: 0, payloads: 0, pending: 0, failed: 1 });
});

test('deletes queued events before their partitions, with an alarm, and keeps other entries', async () => {
  await seedDelivery(1);
  await superuser.run(
    `insert into webhook_event_queue (account_id, interface, event_id, subscription_id)
     values ($1, 'customer', $2, null), ($1, 'customer', $2, 1), ($1, 'customer', $3, null), ($1, 'customer', null, 1)`,
    [account.id, idAtHour(1), idAtHour(25)],
  );
  await expireAfter(32);
  const left = await superuser.run('select event_id from webhook_event_queue order by position');
  expect(left.map((row) => row['event_id'])).toEqual([idAtHour(25), null]);
  expect(events[0]).toEqual({ kind: 'events-expired', alarm: true, count: 2 });
});

test.each([
  ['frozen', '0, next_freeze()'],
  ['at home elsewhere', '1, null'],
])('deletes no row of an account that is %s, and does so once it is at home', async (_, home) => {
  const owner = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  const subscription = await owner.transaction((transaction) => seedSubscription(transaction, account));
  await owner.close();
  await superuser.run('delete from webhook_event_queue');
  await seedDelivery(1);
  await superuser.run(`insert into webhook_event_queue (account_id, interface, event_id) values ($1, 'customer', $2)`, [
    account.id,
    idAtHour(1),
  ]);
  await superuser.run(
    `insert into webhook_failed_delivery (subscription_id, delivery_id, interface) values ($1, $2, 'customer')`,
    [subscription, idAtHour(2)],
  );
  await superuser.run(
    `insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed)
     values ($1, $2, 1, 'customer', 1, 0, 0)`,
    [subscription, startOf(today)],
  );
  await superuser.run(
    `insert into webhook_replay (id, account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id, ended_at)
     values ($2, $1, 'customer', $3, true, 50, 0, 1, 0, $4)`,
    [account.id, idAtHour(-40 * 24), subscription, startOf(today - 39)],
  );
  const left = async (): Promise<unknown> => {
    const [row] = await superuser.run(`
      select (select count(*)::int from webhook_event_queue where event_id is not null) as queued,
        (select count(*)::int from webhook_pending_delivery) as pending,
        (select count(*)::int from webhook_failed_delivery) as failed,
        (select count(*)::int from webhook_hour_statistics) as hours, (select count(*)::int from webhook_replay) as replays`);
    return row;
  };
  await superuser.run(`insert into account_home values ($1, ${home})`, [account.id]);
  await expireAfter(38);
  expect(await left()).toEqual({ queued: 1, pending: 1, failed: 1, hours: 1, replays: 1 });
  await superuser.run('delete from account_home');
  await expireAfter(38);
  // The pending delivery has failed, and is as old.
  expect(await left()).toEqual({ queued: 0, pending: 0, failed: 0, hours: 0, replays: 0 });
});

test('drops nothing while a delivery is being settled, and continues afterwards', async () => {
  const id = await seedDelivery(1);
  const lock = 'select from webhook_pending_delivery where delivery_id = $1 for update';
  const unlock = await hold(database.databaseUrl, lock, [id]);
  await expect(expireAfter(32)).rejects.toThrow('1 expired pending deliveries are locked');
  expect(await counts()).toEqual(untouched);
  await unlock();
  await expireAfter(32);
  expect(await counts()).toMatchObject({ events: 0, payloads: 0, pending: 0, failed: 1 });
});

test('walks over more rows than a batch reads', async () => {
  await seedDelivery(1);
  await superuser.run(
    `insert into webhook_pending_delivery
     select 2, delivery_id + number, account_id, interface, event_id, event_type, event_version, occurred_at, request_id, number,
       due_at, attempts, takes, body_bytes
     from webhook_pending_delivery, generate_series(1, 12000) number`,
  );
  await expireAfter(31);
  expect(events).toContainEqual({ kind: 'deliveries-expired', count: 12_001 });
  expect(await counts()).toMatchObject({ pending: 0, failed: 12_001 });
});

/** Inserts an event two days after the rows. */
const insertEvent = (): Promise<unknown> =>
  superuser.run(
    `insert into webhook_event (id, account_id, interface, event_type, snapshot) values ($1, $2, 'customer', 't', '{}')`,
    [idAtHour(49), account.id],
  );

test('beside a dump, which holds every table and an old snapshot, nothing is dropped and others go on', async () => {
  await seedDelivery(1);
  const dump = await connect(database.databaseUrl);
  try {
    await dump.run('begin isolation level repeatable read read only');
    await dump.run('select count(*) from webhook_event');
    await dump.run(`
      do $$
      declare
        name text;
      begin
        for name in select oid::regclass from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
          execute format('lock table only %s in access share mode', name);
        end loop;
      end
      $$`);
    await expect(expireAfter(32)).rejects.toBeInstanceOf(LockTimeoutError);
    expect(waitsMs).toEqual([10_000, 1000, 2000, 4000, 8000]);
    expect(events.filter(({ kind }) => kind === 'partition-dropped')).toEqual([]);
    await insertEvent();
    expect(await dump.run('select count(*)::int as count from webhook_event')).toEqual([{ count: 1 }]);
    await dump.run('commit');
  } finally {
    await dump.close();
  }
  // The server may notice the end of the transaction later than this client.
  await eventually(() => expireAfter(32));
  expect(await counts()).toMatchObject({ events: 1, payloads: 0 });
});

test('finishes what a worker of an earlier release was detaching', async () => {
  await seedDelivery(1);
  const reader = await connect(database.databaseUrl);
  try {
    await reader.run('begin; select from webhook_event');
    await superuser.run(`set lock_timeout = '100ms'`);
    const detach = `alter table webhook_event detach partition webhook_event_${nameOf(today)} concurrently`;
    await expect(superuser.run(detach)).rejects.toThrow('lock timeout');
    expect(await superuser.run(`select from pg_inherits where inhdetachpending`)).toHaveLength(1);
    await reader.run('commit');
  } finally {
    await reader.close();
  }
  await eventually(() => expireAfter(32));
  const dropped = events.flatMap((event) => (event.kind === 'partition-dropped' ? [event.name] : []));
  expect(dropped[0]).toBe(`webhook_event_${nameOf(today)}`);
  expect(await superuser.run(`select from pg_inherits where inhdetachpending`)).toHaveLength(0);
  expect(await counts()).toMatchObject({ events: 0, payloads: 0 });
});

test('drops interrupted partitions first, then the oldest, deliveries before attempts', async () => {
  await superuser.run(`alter table webhook_attempt detach partition webhook_attempt_${nameOf(today)}`);
  await expireAfter(38);
  const days = [today - 1, today].map(nameOf);
  const dropped = events.flatMap((event) => (event.kind === 'partition-dropped' ? [event.name] : []));
  expect(dropped.slice(0, 8)).toEqual(
    days.flatMap((day) => ['event', 'payload', 'delivery', 'attempt'].map((table) => `webhook_${table}_${day}`)),
  );
  expect(await superuser.run('select from pg_class where relname = any($1)', [dropped])).toEqual([]);
});

test('waits for no transaction that holds an account', async () => {
  await seedDelivery(1);
  const unlock = await hold(database.databaseUrl, 'select from account for update');
  await expireAfter(32);
  await unlock();
  expect(await counts()).toMatchObject({ events: 0, payloads: 0 });
});

test('reports partitions that could not be dropped for days', async () => {
  await seedDelivery(1);
  await expireAfter(33);
  expect(events.filter(({ kind }) => kind === 'partitions-overdue')).toEqual([]);
  await expireAfter(40);
  expect(events).toContainEqual({
    kind: 'partitions-overdue',
    alarm: true,
    names: expect.arrayContaining([`webhook_event_${nameOf(today + 2)}`]),
  });
});

test('a late success counts after its delivery has expired, and is skipped once its partition was dropped', async () => {
  const id = await seedDelivery(1);
  const [worker] = await superuser.run(
    `insert into webhook_worker (name, leased_until) values ('test', now() + interval '1 hour') returning id`,
  );
  const attempt = { number: 2, startedAt: new Date(), durationMs: 1, responseStatus: 200, error: null, detail: null };
  const key = { deliveryId: toRecordId<'WebhookDelivery'>(id), subscriptionId: toRecordId<'WebhookSubscription'>('1') };
  const record = (success: LateSuccess): Promise<unknown> =>
    recordLateSuccesses(store, worker?.['id'] as WorkerId, [success]);

  await expireAfter(37);
  expect(await record({ ...key, attempt })).toEqual([id]);
  expect(await counts()).toMatchObject({ deliveries: 1, attempts: 2, failed: 0 });

  await expireAfter(38);
  expect(await record({ ...key, attempt: { ...attempt, number: 3 } })).toEqual([]);
  expect(await counts()).toMatchObject({ deliveries: 0, attempts: 0 });
});

/** So many days before the day of the rows. */
const daysBefore = (days: number): Date => new Date(startOf(today).getTime() - days * 86_400_000);

/** The id of a replay that was created then. */
const replayId = (days: number): string => idAt<'WebhookReplay'>(daysBefore(days));

test('deletes retries after a day, and replays a number of days after their end', async () => {
  await superuser.run(
    `with subscription as (
       insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
       values ($1, $2, 'https://a.test/', '', 0)
       returning id, account_id, interface
     )
     insert into webhook_replay (id, account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id,
       last_id, ended_at, cancelled_at)
     select r.id, s.account_id, s.interface, s.id, r.delivery_id, true, 1, 0, 1, 0, r.ended_at, r.cancelled_at
     from subscription s, (values
       ($3::bigint, null::bigint, $10::timestamptz, null::timestamptz),
       ($4, null, null, $10),
       ($5, null, $11, null),
       ($6, null, null, null),
       ($7, 1, now(), null),
       ($8, 2, now(), null),
       ($9, 3, null, null)
     ) as r (id, delivery_id, ended_at, cancelled_at)`,
    [account.id, account.interfaceName, ...[100, 99, 80, 98, 3, -1, 4].map(replayId), ...[61, 58].map(daysBefore)],
  );
  await expireAfter(1);
  const rows = await superuser.run('select id::text from webhook_replay r order by r.id');
  expect(rows.map((row) => row['id'])).toEqual([replayId(98), replayId(80), replayId(4), replayId(-1)]);
});

/** Inserts 300 counts of each hour of the day of the rows. */
const seedStatistics = () =>
  superuser.run(
    `insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed)
     select 1, $1::timestamptz + hours * interval '1 hour', n, 'customer', 1, 0, 0 from generate_series(0, 23) hours, generate_series(1, 300) n`,
    [startOf(today)],
  );

const hours = async () => {
  const [row] = await superuser.run(
    'select count(distinct hour)::int as hours, count(*)::int as rows from webhook_hour_statistics',
  );
  return row;
};

test('keeps the counts of hours for 7 days, and deletes no more of them once the worker stops', async () => {
  await seedStatistics();
  // At noon.
  await expireAfter(6);
  expect(await hours()).toEqual({ hours: 24, rows: 7_200 });
  await expireAfter(7);
  expect(await hours()).toEqual({ hours: 12, rows: 3_600 });
  await expireAfter(8);
  expect(await hours()).toEqual({ hours: 0, rows: 0 });
  await seedStatistics();
  await expireAfter(8, async () => false);
  expect(await hours()).toMatchObject({ rows: 2_200 });
});

test('drops partitions although the database refuses to delete counts of hours', async () => {
  await seedDelivery(1);
  await superuser.run('revoke delete on webhook_hour_statistics from webhook_worker');
  await expect(expireAfter(38)).rejects.toThrow('permission denied');
  expect(await counts()).toMatchObject({ deliveries: 0, attempts: 0 });
});
