import { onlyRow, type Statement, type Transaction } from '@deedwire/store';
import type { EventId, SubscriptionId } from '../kernel/ids.ts';
import { storedOrigin } from '../kernel/origin.ts';
import { type NewEvent, workerOf } from './insert-event.ts';

// In one statement, as in append-events.
const appendTestEvent: Statement = {
  name: 'append-test-event',
  text: `
    with event as (
      insert into webhook_event (account_id, interface, event_type, snapshot, request_id, is_test)
      values ($1, $2, $3, $4, $5, true)
      returning id, account_id, interface
    ), entry as (
      insert into webhook_event_queue (account_id, interface, event_id, subscription_id)
      select account_id, interface, id, $6
      from event
    )
    select id from event`,
};

/**
 * Inserts an event that reports no change, for one subscription of the account. If the subscription no longer pins the type when
 * the event is fanned out, there is no delivery.
 */
export async function insertTestEvent(
  transaction: Transaction,
  event: NewEvent,
  subscriptionId: SubscriptionId,
): Promise<EventId> {
  const { accountId, interfaceName, type, snapshot } = event;
  const values = [accountId, interfaceName, type, JSON.stringify(snapshot), storedOrigin(event), subscriptionId];
  const { id } = onlyRow(await transaction.query<{ id: EventId }>(appendTestEvent, values));
  transaction.notifyAfterCommit(workerOf(accountId));
  return id;
}
