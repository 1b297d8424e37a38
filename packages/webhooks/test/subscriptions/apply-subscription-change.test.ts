import type { TestDatabase } from '@deedwire/embedded-postgres';
import { backgroundTimeouts, createStore, type Store } from '@deedwire/store';
import { connect, eventually, type Connection } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applySubscriptionChange } from '../../src/apply-subscription-change.ts';
import type { WorkerId } from '../../src/fence/worker-id.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import { markSubscriptionDeleted } from '../../src/subscriptions/mark-subscription-deleted.ts';
import {
  createMigratedDatabase,
  seedAccount,
  seedSubscription,
  seedWorker,
  type SeededAccount,
} from '../support/seed.ts';

let database: TestDatabase;
let superuser: Connection;
let store: Store;
/** Has the rights of the worker. */
let worker: Store;
let workerId: WorkerId;
let account: SeededAccount;

beforeAll(async () => {
  database = await createMigratedDatabase();
  superuser = await connect(database.databaseUrl);
  store = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
  worker = createStore({
    databaseUrl: await database.urlFor('webhook_worker'),
    applicationName: 'test-worker',
    // The second test makes it wait for a lock.
    timeouts: { ...backgroundTimeouts, statementMs: 60_000, lockMs: 60_000 },
  });
  workerId = await seedWorker(store);
  account = await seedAccount(store);
});

afterAll(async () => {
  await Promise.all([store.close(), worker.close(), superuser.close()]);
  await database.drop();
});

/** A subscription with pending deliveries and a receiver that has failed. */
async function subscribe(deliveries: number): Promise<SubscriptionId> {
  const id = await store.transaction((transaction) => seedSubscription(transaction, account));
  await superuser.run(
    `insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
        due_at, body_bytes)
     select $1, n, $2, 'partner', 1, 'referral.created', '2026-11-01', now(), n, now(), 0 from generate_series(1, $3::int) n`,
    [id, account.id, deliveries],
  );
  await superuser.run(
    `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes)
     values ($1, 1, 1, 0)`,
    [id],
  );
  return id;
}

const remove = (id: SubscriptionId) => store.transaction((transaction) => markSubscriptionDeleted(transaction, id));

async function apply(id: SubscriptionId): Promise<string[]> {
  const calls: string[] = [];
  const dispatcher = {
    closeLane: () => void calls.push('close'),
    openLane: () => void calls.push('open'),
    laneChanged: () => void calls.push('changed'),
  };
  const lane = { subscriptionId: id, accountId: account.id };
  await applySubscriptionChange({ store: worker, dispatcher, workerId: () => workerId }, lane);
  return calls;
}

const rowsOf = async (id: SubscriptionId) => ({
  pending: (await superuser.run('select from webhook_pending_delivery where subscription_id = $1', [id])).length,
  receivers: (await superuser.run('select from webhook_receiver_state where subscription_id = $1', [id])).length,
});

test('deletes the pending deliveries and the receiver state of a deleted subscription only', async () => {
  const [deleted, other] = [await subscribe(2_001), await subscribe(1)];
  await remove(deleted);
  expect(await apply(deleted)).toEqual(['close']);
  expect(await apply(other)).toEqual(['open']);
  expect(await rowsOf(deleted)).toEqual({ pending: 0, receivers: 0 });
  expect(await rowsOf(other)).toEqual({ pending: 1, receivers: 1 });
});

test('deletes a delivery that is rescheduled meanwhile', async () => {
  const id = await subscribe(1);
  await remove(id);
  await superuser.run('begin');
  // As settling does: the retry is another row.
  await superuser.run(
    `with settled as (delete from webhook_pending_delivery where subscription_id = $1 returning *)
     insert into webhook_pending_delivery
       (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
        due_at, attempts, body_bytes)
     select subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
       due_at, attempts + 1, body_bytes
     from settled`,
    [id],
  );
  const applied = apply(id);
  await eventually(async () => {
    const statement = {
      name: 'waiting',
      text: `select from pg_stat_activity
             where datname = current_database() and application_name = 'test-worker' and wait_event_type = 'Lock'`,
    };
    expect(await store.query(statement, [])).toHaveLength(1);
  });
  await superuser.run('commit');
  await applied;
  expect(await rowsOf(id)).toEqual({ pending: 0, receivers: 0 });
});
