import { type AccountId, toRecordId } from '@deedwire/core';
import { onlyRow, type Database, type Transaction } from '@deedwire/store';
import { insertAccount, insertOrganization } from '@deedwire/store/accounts';
import type { WorkerId } from '../../src/fence/fence.ts';
import { type ListenerId, type SubscriptionId, subscriptionIdOf } from '../../src/kernel/ids.ts';
import { appendSubscriptionChange, insertEvent } from '../../src/outbox/outbox.ts';
import type { EventTypePin } from '../../src/subscriptions/read-pins.ts';

export { createServiceDatabase } from '@deedwire/store/test-support';

export const samplePin: EventTypePin = { type: 'order.placed', version: '2026-11-01' };

export interface SeededAccount {
  id: AccountId;
  interfaceName: string;
}

/** An account in a new organization. */
export async function seedAccount(database: Database, interfaceName = 'customer'): Promise<SeededAccount> {
  const { id: organizationId } = await insertOrganization(database, 'Test');
  const { id } = await insertAccount(database, { interfaceName, organizationId, name: 'Test' });
  return { id, interfaceName };
}

/** An active subscription. Its secret cannot be decrypted unless `secretCiphertext` is given. */
export async function seedSubscription(
  transaction: Transaction,
  account: SeededAccount,
  options: {
    callbackUrl?: string;
    secretCiphertext?: (id: SubscriptionId) => Buffer;
    pins?: readonly EventTypePin[];
  } = {},
): Promise<SubscriptionId> {
  const id = await reserveId(transaction);
  const secret = options.secretCiphertext?.(id) ?? Buffer.from('not a ciphertext');
  const values = [options.callbackUrl ?? 'https://receiver.example/hook', secret];
  await insert(transaction, account, id, options.pins, `'PUSH', $5, $6, null, null, null, null`, values);
  return id;
}

/** A listener. */
export async function seedListener(
  transaction: Transaction,
  account: SeededAccount,
  pins?: readonly EventTypePin[],
): Promise<ListenerId> {
  const id: ListenerId = toRecordId(await reserveId(transaction));
  const columns = `'LISTENER', '', '', 'OWNER', now(), now(), now()`;
  await insert(transaction, account, subscriptionIdOf(id), pins, columns, []);
  return id;
}

async function reserveId(transaction: Transaction): Promise<SubscriptionId> {
  const statement = { name: 'reserve-seeded-id', text: 'select new_record_id() as id' };
  return onlyRow(await transaction.query<{ id: SubscriptionId }>(statement, [])).id;
}

/** Inserts a subscription with its pins, and queues its change, as the use cases do. */
async function insert(
  transaction: Transaction,
  { id: accountId, interfaceName }: SeededAccount,
  id: SubscriptionId,
  pins: readonly EventTypePin[] = [samplePin],
  columns: string,
  values: unknown[],
): Promise<void> {
  const statement = {
    name: `seed-${values.length === 0 ? 'listener' : 'subscription'}`,
    text: `
      with subscription as (
        insert into webhook_subscription (queue_position, id, account_id, interface, kind, callback_url, secret_ciphertext,
          paused_reason, paused_at, owner_paused_at, last_read_at)
        values (nextval('webhook_queue_position'), $1, $2, $3, ${columns})
      ), pin as (
        insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
        select $1, $3, pin ->> 'type', pin ->> 'version' from json_array_elements($4::json) pin
      )
      insert into webhook_subscription_sequence (subscription_id, interface) values ($1, $3)`,
  };
  await transaction.query(statement, [id, accountId, interfaceName, JSON.stringify(pins), ...values]);
  await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
}

/** Appends events whose snapshots are `{ "number": 1 }`, `{ "number": 2 }` and so on, or begin at `first`. */
export async function seedEvents(
  transaction: Transaction,
  account: SeededAccount,
  count: number,
  type = samplePin.type,
  first = 1,
): Promise<void> {
  const { id: accountId, interfaceName } = account;
  for (let number = first; number < first + count; number += 1) {
    const event = { type, recordId: String(number), snapshot: { number }, requestId: null };
    await insertEvent(transaction, { accountId, interfaceName, ...event });
  }
}

/** A worker that owns all shards, with a lease of an hour. `database` must have all rights. Returns the id of the worker. */
export async function seedWorker(database: Database): Promise<WorkerId> {
  const statement = {
    name: 'seed-worker',
    text: `
      with worker as (
        insert into webhook_worker (name, leased_until) values ('test', now() + interval '1 hour') returning id
      ),
      shard as (update webhook_shard set worker_id = worker.id from worker)
      select id from worker`,
  };
  return onlyRow(await database.query<{ id: WorkerId }>(statement, [])).id;
}

/** Slows inserts into the queue down. The function that is returned freezes an account during the next one, and ends that. */
export async function holdQueue(admin: Database): Promise<(account: SeededAccount) => Promise<void>> {
  const run = (text: string, values: unknown[] = []) => admin.query({ name: '', text }, values);
  await run(`
    do $do$ begin
      create function hold() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$;
      create trigger a_hold before insert on webhook_event_queue for each row execute function hold();
    end $do$`);
  const sleeping = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  return async ({ id }) => {
    while ((await run(sleeping)).length === 0);
    await run('insert into account_home values ($1, 1, next_freeze())', [id]);
    await run('drop trigger a_hold on webhook_event_queue');
  };
}
