import type { AccountId, InterfaceName } from '@deedwire/core';
import { type InsertedRow, insertRow, type Transaction, onlyRow, sql } from '@deedwire/store';
import { type EventId, type SubscriptionId, shardOf } from '../kernel/ids.ts';
import { type Origin, storedOrigin } from '../kernel/pending-delivery.ts';

/** Without a request if an operator made the change. */
export interface NewEvent extends Origin {
  accountId: AccountId;
  interfaceName: InterfaceName;
  type: string;
  /** The record that the event is about. Null: none. */
  recordId: string | null;
  snapshot: object;
}

// The entry follows the event, whose insert draws the number of the transaction if no earlier statement did: workers of earlier
// releases require that it is drawn before a position of the queue.
const appendEvents = sql('append-events')`
    with event as (
      insert into webhook_event (id, account_id, interface, event_type, snapshot, request_id, record_id)
      select coalesce(id, new_record_id()), account_id, interface, event_type, snapshot, request_id, record_id
      from unnest($1::bigint[], $2::bigint[], $3::interface_name[], $4::text[], $5::json[], $6::text[], $7::bigint[])
        as e (id, account_id, interface, event_type, snapshot, request_id, record_id)
      returning id, account_id, interface
    )
    insert into webhook_event_queue (account_id, interface, event_id)
    select account_id, interface, id
    from event`;

/**
 * The row of an event, which the statement inserts into the outbox and into the queue of its account. Belongs to the transaction
 * of the change that it reports; after the commit, the worker of the account is notified. Only `insertTestEvent` and the functions `webhook_raise_alerts` and `append_key_event` also write events.
 *
 * @param id null: the statement draws it
 */
export function eventRow(id: string | null, event: NewEvent): InsertedRow {
  const { accountId, interfaceName, type, snapshot, recordId } = event;
  return {
    into: appendEvents,
    values: [id, accountId, interfaceName, type, JSON.stringify(snapshot), storedOrigin(event), recordId],
  };
}

/** Whom to notify of an event or a change of the account. */
export function workerOf(accountId: AccountId): string {
  return String(shardOf(accountId));
}

/** Inserts an event in a transaction that does more than insert rows. */
export async function insertEvent(transaction: Transaction, event: NewEvent): Promise<void> {
  await insertRow(transaction, eventRow(null, event));
  transaction.notifyAfterCommit(workerOf(event.accountId));
}

// In one statement, as in append-events.
const appendTestEvent = sql('append-test-event')`
    with event as (
      insert into webhook_event (account_id, interface, event_type, snapshot, request_id, is_test)
      values ($1, $2, $3, $4, $5, true)
      returning id, account_id, interface
    ), entry as (
      insert into webhook_event_queue (account_id, interface, event_id, subscription_id)
      select account_id, interface, id, $6
      from event
    )
    select id from event`;

/**
 * Inserts an event that reports no change, for one subscription of the account. If the subscription no longer pins the type when
 * the event is fanned out, there is no delivery.
 */
export async function insertTestEvent(
  transaction: Transaction,
  event: Omit<NewEvent, 'recordId'>,
  subscriptionId: SubscriptionId,
): Promise<EventId> {
  const { accountId, interfaceName, type, snapshot } = event;
  const values = [accountId, interfaceName, type, JSON.stringify(snapshot), storedOrigin(event), subscriptionId];
  const { id } = onlyRow(await transaction.query<{ id: EventId }>(appendTestEvent, values));
  transaction.notifyAfterCommit(workerOf(accountId));
  return id;
}

/**
 * Queues a change of a subscription for the owner of the account's shard, which then reads the subscription again. Every
 * transaction that creates, changes, pauses, resumes or deletes a subscription calls it, so that a lost notification only
 * delays the change.
 */
export async function appendSubscriptionChange(
  transaction: Transaction,
  change: { accountId: AccountId; interfaceName: InterfaceName; subscriptionId: SubscriptionId },
): Promise<void> {
  const statement = sql(
    'append-subscription-change',
  )`insert into webhook_event_queue (account_id, interface, subscription_id) values ($1, $2, $3)`;
  const { accountId, interfaceName, subscriptionId } = change;
  await transaction.query(statement, [accountId, interfaceName, subscriptionId]);
  transaction.notifyAfterCommit(workerOf(accountId));
}
