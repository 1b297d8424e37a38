import type { AccountId } from '@deedwire/core';
import {
  type Database,
  firstRow,
  onlyRow,
  pageConditions,
  type PageQuery,
  type Transaction,
  sql,
} from '@deedwire/store';
import { appendSubscriptionChange, workerOf } from '@deedwire/webhooks/outbox';
import { type ListenerId, type SubscriptionId, subscriptionIdOf, type EventTypePin } from '@deedwire/webhooks/tables';
import type { SubscriptionOwner } from './subscriptions.ts';

/** A subscription that is read with `webhookEvents`, and never sent. */
export interface ListenerRow extends SubscriptionOwner {
  id: ListenerId;
  /** Ordered by type. */
  eventTypes: EventTypePin[];
  createdAt: Date;
  /** Read at most an hour later than this. The time of its creation until it is read. */
  lastReadAt: Date;
  /** The sequence of the last delivery. 0 if there is none. */
  lastSequence: string;
}

/** The columns of `ListenerRow`, from `webhook_subscription s` and `webhook_subscription_sequence q`. */
const listenerColumns = `
  s.id, s.account_id as "accountId", s.interface as "interfaceName", s.created_at as "createdAt",
  s.last_read_at as "lastReadAt", q.last_sequence as "lastSequence",
  (
    select coalesce(json_agg(json_build_object('type', t.event_type, 'version', t.event_version) order by t.event_type), '[]')
    from webhook_subscription_event_type t
    where t.subscription_id = s.id
  ) as "eventTypes"`;

const listenerTables = `
  webhook_subscription s
  join webhook_subscription_sequence q on q.subscription_id = s.id`;

/** Inserts a listener without event types. It receives the events that are appended from now on. */
export async function insertListener(
  transaction: Transaction,
  { accountId, interfaceName }: SubscriptionOwner,
): Promise<ListenerId> {
  const statement = sql('insert-listener')`
      with listener as (
        insert into webhook_subscription (account_id, interface, kind, callback_url, secret_ciphertext, paused_reason, paused_at,
          owner_paused_at, last_read_at, queue_position)
        values ($1, $2, 'LISTENER', '', '', 'OWNER', now(), now(), now(), nextval('webhook_queue_position'))
        returning id, interface
      )
      insert into webhook_subscription_sequence (subscription_id, interface)
      select id, interface
      from listener
      returning subscription_id as id`;
  const { id } = onlyRow(await transaction.query<{ id: ListenerId }>(statement, [accountId, interfaceName]));
  await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: subscriptionIdOf(id) });
  return id;
}

/** Returns null if the account has no such listener, or has deleted it. Served by the primary keys of both tables. */
export async function selectListener(
  database: Database,
  accountId: AccountId,
  id: ListenerId,
): Promise<ListenerRow | null> {
  const statement = sql('select-listener')`
      select ${listenerColumns}
      from ${listenerTables}
      where s.id = $2 and s.account_id = $1 and s.kind = 'LISTENER' and s.deleted_at is null`;
  return firstRow(await database.query<ListenerRow>(statement, [accountId, id]));
}

/**
 * Listeners, newest first. Served by webhook_listener_by_last_read or webhook_subscription_by_account.
 *
 * @param accountId null for those of all accounts
 */
export async function selectListeners(
  database: Database,
  accountId: AccountId | null,
  page: PageQuery<'WebhookListener'>,
): Promise<ListenerRow[]> {
  const { scope, conditions, values } = pageConditions(['s.account_id', accountId], 's.id', page);
  const statement = sql(`select-listeners${scope}`)`
      select ${listenerColumns}
      from ${listenerTables}
      where s.kind = 'LISTENER' and s.deleted_at is null and ${conditions}
      limit $2`;
  return database.query<ListenerRow & Record<string, unknown>>(statement, values);
}

/** Locks a listener until the transaction ends. Returns false if the account has no such listener. Served by webhook_subscription_pkey. */
export async function lockListener(transaction: Transaction, accountId: AccountId, id: ListenerId): Promise<boolean> {
  const statement = sql('lock-listener')`
      select id
      from webhook_subscription
      where id = $2 and account_id = $1 and kind = 'LISTENER' and deleted_at is null
      for no key update`;
  return (await transaction.query(statement, [accountId, id])).length === 1;
}

/**
 * Notes that a listener was read, unless a read was noted within the last hour. Ignores subscriptions that are no listeners.
 * Served by webhook_subscription_pkey.
 */
export async function noteListenerRead(database: Database, id: SubscriptionId): Promise<void> {
  const statement = sql('note-listener-read')`
      update webhook_subscription
      set last_read_at = now()
      where id = $1 and kind = 'LISTENER' and deleted_at is null and last_read_at < now() - interval '1 hour'`;
  await database.query(statement, [id]);
}

/**
 * Deletes a listener of any account, for operators. Write the entry of the audit log in the same transaction.
 *
 * @returns false if there is no such listener
 */
export async function deleteListener(
  transaction: Transaction,
  { accountId }: SubscriptionOwner,
  id: ListenerId,
): Promise<boolean> {
  const statement = sql('delete-listener')`select webhook_delete_listener($1) as "isDeleted"`;
  const { isDeleted } = onlyRow(await transaction.query<{ isDeleted: boolean }>(statement, [id]));
  if (isDeleted) transaction.notifyAfterCommit(workerOf(accountId));
  return isDeleted;
}
