import { createStore } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import type { SubscriptionId } from '../src/kernel/ids.ts';
import { readQueueState } from '../src/queue-state.ts';
import { keepPartitions } from '../src/retention/sql/partitions.ts';
import {
  createServiceDatabase,
  seedAccount,
  type SeededAccount,
  seedEvents,
  seedSubscription,
} from './support/seed.ts';

const database = await forFile(createServiceDatabase());
const store = await forFile(
  createStore({ databaseUrl: database.databaseUrl, applicationName: 'test', plansOnceByIndexes: true }),
);
let account: SeededAccount;
let statements = 0;

const sql = (text: string, values: readonly unknown[] = []): Promise<unknown> =>
  store.query({ name: `test-${(statements += 1)}`, text }, values);

beforeEach(async () => {
  for (const table of ['webhook_pending_delivery', 'webhook_event_queue', 'account_home'])
    await sql(`delete from ${table}`);
  await sql('update webhook_subscription set deleted_at = now() where deleted_at is null');
  account = await seedAccount(store);
});

/** A subscription whose deliveries have been due for these seconds. */
async function subscribe(...dueFor: number[]): Promise<SubscriptionId> {
  const id = await store.transaction((transaction) => seedSubscription(transaction, account));
  await sql('delete from webhook_event_queue');
  await sql(
    `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version,
        occurred_at, sequence, due_at, body_bytes)
      select $1, new_record_id(), $2, 'customer', 1, 'order.placed', '2026-11-01', now(), row_number() over (),
        clock_timestamp() - due * interval '1 second', 1
      from unnest($3::float8[]) due`,
    [id, account.id, dueFor],
  );
  return id;
}

const oldest = async (): Promise<number> => Math.round((await readQueueState(store)).oldestDueSeconds / 100) * 100;

test('an empty database', async () => {
  await keepPartitions(store, () => {});
  expect(await readQueueState(store)).toEqual({
    eventsQueued: 0,
    deliveriesPending: 0,
    oldestDueSeconds: 0,
    frozenSeconds: 0,
    paused: {},
    disrupted: {},
    daysAhead: 60,
  });
});

test('counts events that wait for fan-out, without blocked ones, and pending deliveries', async () => {
  await subscribe(10, -1_000, -2_000);
  await store.transaction((transaction) => seedEvents(transaction, account, 5));
  await sql(`update webhook_event_queue set blocked_on = 'order.placed'
    where position = (select min(position) from webhook_event_queue)`);
  expect(await readQueueState(store)).toMatchObject({ eventsQueued: 4, deliveriesPending: 3 });
  await sql('insert into account_home (account_id, cell) values ($1, 1)', [account.id]);
  expect(await readQueueState(store)).toMatchObject({ eventsQueued: 0, deliveriesPending: 3 });
});

test('the oldest due delivery is that of a subscription that may send, and whose receiver works', async () => {
  await subscribe(-500);
  expect((await readQueueState(store)).oldestDueSeconds).toBe(0);
  await subscribe(200, -500);
  await subscribe();
  const older = await subscribe(5, 400, 300);
  expect(await oldest()).toBe(400);

  const failing = await subscribe(1_000);
  await sql(
    'insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes) values ($1, 1, 1, 0)',
    [failing],
  );
  expect(await oldest()).toBe(400);
  // The state belongs to an earlier callback URL.
  await sql('update webhook_subscription set url_number = 2 where id = $1', [failing]);
  expect(await oldest()).toBe(1_000);

  await sql(`update webhook_subscription set paused_reason = 'OWNER', paused_at = now() where id = $1`, [failing]);
  await sql(`update webhook_subscription set paused_reason = 'GONE', paused_at = now() where id = $1`, [older]);
  expect(await oldest()).toBe(200);
  expect((await readQueueState(store)).paused).toEqual({ OWNER: 1, GONE: 1 });
});

test('counts disrupted subscriptions that have failed within the hour, and recovering ones', async () => {
  const [failing, quiet, moved, paused, recovering] = await Promise.all(Array.from({ length: 5 }, () => subscribe()));
  await sql(
    `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes, last_failure_at)
     select id, 1, 1, 0, now() - case id when $1 then interval '1 hour' else interval '59 minutes' end
     from unnest($2::bigint[]) id`,
    [quiet, [failing, quiet, moved, paused]],
  );
  await sql(
    `insert into webhook_subscription_episode (subscription_id, state)
     select id, case id when $1 then 'RECOVERING' else 'DISRUPTED' end from unnest($2::bigint[]) id`,
    [recovering, [failing, quiet, moved, paused, recovering]],
  );
  await sql('update webhook_subscription set url_number = 2 where id = $1', [moved]);
  await sql(`update webhook_subscription set paused_reason = 'OWNER', paused_at = now() where id = $1`, [paused]);
  expect((await readQueueState(store)).disrupted).toEqual({ DISRUPTED: 1, RECOVERING: 1 });
});

test('an account is frozen, so its deliveries are not late', async () => {
  const id = await subscribe(500);
  await sql(
    `insert into account_home (account_id, cell, frozen_at)
     select account_id, 1, now() - interval '10 minutes' from webhook_subscription where id = $1`,
    [id],
  );
  const { frozenSeconds, oldestDueSeconds } = await readQueueState(store);
  expect({ frozen: Math.round(frozenSeconds / 60), oldestDueSeconds }).toEqual({ frozen: 10, oldestDueSeconds: 0 });
});
