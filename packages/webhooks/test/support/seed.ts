import type { AccountId, InterfaceName } from '@deedwire/domain';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate, onlyRow, type Database, type Transaction } from '@deedwire/store';
import { insertAccount, insertOrganization } from '@deedwire/store/accounts';
import type { WorkerId } from '../../src/fence/worker-id.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import { insertEvent } from '../../src/outbox/insert-event.ts';
import { insertEventTypePins } from '../../src/subscriptions/event-type-pins.ts';
import { type EventTypePin, insertSubscription, reserveSubscriptionId } from '../../src/subscriptions/subscriptions.ts';

/** A new database with every migration applied. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
}

export const samplePin: EventTypePin = { type: 'referral.created', version: '2026-11-01' };

export interface SeededAccount {
  id: AccountId;
  interfaceName: InterfaceName;
}

/** An account in a new organization. */
export async function seedAccount(
  database: Database,
  interfaceName: InterfaceName = 'partner',
): Promise<SeededAccount> {
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
  const id = await reserveSubscriptionId(transaction);
  const { id: accountId, interfaceName } = account;
  await insertSubscription(transaction, {
    id,
    accountId,
    interfaceName,
    callbackUrl: options.callbackUrl ?? 'https://receiver.example/hook',
    secretCiphertext: options.secretCiphertext?.(id) ?? Buffer.from('not a ciphertext'),
  });
  await insertEventTypePins(transaction, { id, interfaceName }, options.pins ?? [samplePin]);
  return id;
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
    await insertEvent(transaction, { accountId, interfaceName, type, snapshot: { number }, requestId: null });
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
