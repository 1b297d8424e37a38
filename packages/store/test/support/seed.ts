import type { AccountId, RecordId } from '@deedwire/domain';
import { insertAccount, insertOrganization } from '../../src/accounts.ts';
import type { Database, Transaction } from '../../src/index.ts';
import {
  insertDeliveries,
  insertPayloads,
  lockLanes,
  markEventsFannedOut,
  selectQueuedEvents,
} from '../../src/webhook-fan-out.ts';
import { insertOutboxEvent } from '../../src/webhook-outbox.ts';
import {
  insertSubscription,
  insertSubscriptionEventTypes,
  reserveSubscriptionId,
} from '../../src/webhook-subscriptions.ts';

export const sampleEvent = { type: 'referral.created', version: '2026-11-01' };
export const known = { types: [sampleEvent.type], versions: [sampleEvent.version] };

export interface Account {
  id: AccountId;
  interfaceName: 'lender' | 'partner';
}

export async function seedAccount(database: Database, interfaceName: 'lender' | 'partner'): Promise<Account> {
  const { id: organizationId } = await insertOrganization(database, 'Test');
  const { id } = await insertAccount(database, { interfaceName, organizationId, name: 'Test' });
  return { id, interfaceName };
}

export async function seedSubscription(database: Database, account: Account): Promise<RecordId<'WebhookSubscription'>> {
  const id = await reserveSubscriptionId(database);
  const { id: accountId, interfaceName } = account;
  const secretCiphertext = Buffer.from('not one');
  await insertSubscription(database, {
    id,
    accountId,
    interfaceName,
    callbackUrl: 'https://a.test/',
    secretCiphertext,
  });
  await insertSubscriptionEventTypes(database, { id, interfaceName }, [sampleEvent]);
  return id;
}

export async function seedEvents(transaction: Transaction, account: Account, count: number): Promise<void> {
  const { id: accountId, interfaceName } = account;
  const event = { accountId, interfaceName, type: sampleEvent.type, snapshot: {}, requestId: null };
  for (let index = 0; index < count; index += 1) await insertOutboxEvent(transaction, event);
}

/** Fans out the queued events of an account, as the worker does. Returns the number of deliveries. */
export async function fanOut(transaction: Transaction, account: Account, limit = 100): Promise<number> {
  const events = await selectQueuedEvents(transaction, known, account.id, limit);
  const sequences = await lockLanes(
    transaction,
    events.flatMap(({ subscriptions }) => subscriptions.map(({ id }) => id)),
  );
  const deliveries = events.flatMap((event) =>
    event.subscriptions.map(({ id, version }) => {
      const sequence = (sequences.get(id) ?? 0n) + 1n;
      sequences.set(id, sequence);
      return { subscriptionId: id, eventId: event.id, version, sequence };
    }),
  );
  const body = Buffer.from('{}');
  await insertPayloads(
    transaction,
    events.map((event) => ({
      eventId: event.id,
      version: sampleEvent.version,
      interfaceName: account.interfaceName,
      body,
    })),
  );
  await insertDeliveries(transaction, account, deliveries);
  await markEventsFannedOut(
    transaction,
    events.map(({ id }) => id),
  );
  return deliveries.length;
}
