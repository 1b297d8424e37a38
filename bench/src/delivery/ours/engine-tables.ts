import {
  cancelReplay,
  insertReplay,
  type ReplayRow,
  selectReplay,
  insertEventTypePins,
  insertSubscription,
  reserveSubscriptionId,
} from '@deedwire/actions/webhooks';
import type { AccountId, RecordId } from '@deedwire/domain';
import type { Database, Transaction } from '@deedwire/store';
import { appendSubscriptionChange, insertEvent } from '@deedwire/webhooks/outbox';
import { secret } from '../../signed-headers.ts';

/** Everything that the bench knows about the storage of the engine. */

/** Of the sessions that the worker opens, without the one that listens. */
export const workerApplicationName = 'deedwire-webhook-worker';

const interfaceName = 'partner';
const eventType = { type: 'referral.converted', version: '2027-02-01' };
/** Of the mutation that `write` measures. */
const writtenEventType = { type: 'referral.created', version: '2026-11-01' };

export interface SubscriptionToAdd {
  accountId: AccountId;
  callbackUrl: string;
  encrypt: (secret: string, id: RecordId<'WebhookSubscription'>) => Buffer;
}

export async function addSubscription(transaction: Transaction, subscription: SubscriptionToAdd): Promise<void> {
  const { accountId, callbackUrl, encrypt } = subscription;
  const id = await reserveSubscriptionId(transaction);
  const secretCiphertext = encrypt(secret, id);
  await insertSubscription(transaction, { id, accountId, interfaceName, callbackUrl, secretCiphertext });
  await insertEventTypePins(transaction, { id, interfaceName }, [eventType, writtenEventType]);
}

/** @param name appears in the body of the webhook as the external reference of its referral */
export async function addEvent(transaction: Transaction, accountId: AccountId, name: string): Promise<void> {
  const at = '2026-11-03T09:30:00.000Z';
  await insertEvent(transaction, {
    accountId,
    interfaceName,
    type: eventType.type,
    snapshot: {
      referral: { id: 'gid://service/Referral/4711', status: 'CONVERTED', externalReference: name },
      matter: { id: 'gid://service/Matter/99', reference: 'M-2026-000099', openedAt: at },
      convertedAt: at,
    },
    requestId: null,
  });
}

/** True while an event is not fanned out or a delivery is not settled. */
export async function hasUnsettled(database: Database): Promise<boolean> {
  const statement = {
    name: 'bench-has-unsettled',
    text: `
      select exists (select from webhook_event_queue) or exists (select from webhook_pending_delivery) as unsettled`,
  };
  const [row] = await database.query<{ unsettled: boolean }>(statement, []);
  return row?.unsettled ?? false;
}

export async function countAttempts(database: Database): Promise<number> {
  const statement = { name: 'bench-count-attempts', text: 'select count(*)::int as attempts from webhook_attempt' };
  const [row] = await database.query<{ attempts: number }>(statement, []);
  return row?.attempts ?? 0;
}

/** The number of shards that each worker owns, the smallest first. Shards without an owner are not counted. */
export async function countShards(database: Database): Promise<number[]> {
  const statement = {
    name: 'bench-count-shards',
    text: `
      select count(*)::int as shards
      from webhook_shard
      where worker_id is not null
      group by worker_id
      order by 1`,
  };
  const rows = await database.query<{ shards: number }>(statement, []);
  return rows.map(({ shards }) => shards);
}

/** Deliveries of the only subscription of an account, by their ids: the first one included, the last one not. */
export interface DeliveryRange {
  subscriptionId: RecordId<'WebhookSubscription'>;
  fromId: string;
  untilId: string;
}

/** Makes every `step`th of the newest deliveries of an account count as failed, and returns the range of all of them. */
export async function markFailed(
  database: Database,
  accountId: AccountId,
  { deliveries, step }: { deliveries: number; step: number },
): Promise<DeliveryRange> {
  const statement = {
    name: 'bench-mark-failed',
    text: `
      with newest as (
        select id, subscription_id, sequence
        from webhook_delivery
        where subscription_id = (select id from webhook_subscription where account_id = $1)
        order by id desc
        limit $2
      ), failed as (
        insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
        select subscription_id, id, '${interfaceName}' from newest where sequence % $3 = 0
        on conflict do nothing
      )
      select subscription_id as "subscriptionId", min(id)::text as "fromId", (max(id) + 1)::text as "untilId"
      from newest
      group by subscription_id`,
  };
  const [range] = await database.query<DeliveryRange & Record<string, unknown>>(statement, [
    accountId,
    deliveries,
    step,
  ]);
  if (range === undefined) throw new Error('The account has no deliveries.');
  return range;
}

/** Asks the worker to replay a range, as an API does. */
export async function startReplay(
  transaction: Transaction,
  accountId: AccountId,
  { range, onlyFailed, perSecond }: { range: DeliveryRange; onlyFailed: boolean; perSecond: number },
): Promise<ReplayRow['id']> {
  const { subscriptionId, ...ids } = range;
  const all = { eventTypes: null, since: null, until: null, fromSequence: null, untilSequence: null };
  const target = { accountId, interfaceName, subscriptionId } as const;
  const id = await insertReplay(transaction, { ...target, range: { onlyFailed, ...all }, ids, perSecond });
  if (id === null) throw new Error('A replay of the subscription is in progress.');
  await appendSubscriptionChange(transaction, target);
  return id;
}

export async function stopReplay(transaction: Transaction, accountId: AccountId, id: ReplayRow['id']): Promise<void> {
  await cancelReplay(transaction, accountId, id);
}

export async function readReplay(database: Database, accountId: AccountId, id: ReplayRow['id']): Promise<ReplayRow> {
  const row = await selectReplay(database, accountId, id);
  if (row === null) throw new Error(`There is no replay ${id}.`);
  return row;
}
