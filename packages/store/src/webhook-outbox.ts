import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Transaction } from './store.ts';

/**
 * Appends an event to the outbox, in the transaction of the change that it reports. The worker is notified after the commit.
 * No other statement writes events.
 */
export async function insertOutboxEvent(
  transaction: Transaction,
  event: {
    accountId: AccountId;
    interfaceName: InterfaceName;
    type: string;
    snapshot: object;
    /** The id of the request that made the change, for the logs. Null for a change by an operator. */
    requestId: string | null;
  },
): Promise<void> {
  const statement = {
    name: 'insert-outbox-event',
    text: `
      insert into outbox_event (account_id, interface, event_type, snapshot, request_id)
      values ($1, $2, $3, $4, $5)`,
  };
  await transaction.query(statement, [
    event.accountId,
    event.interfaceName,
    event.type,
    JSON.stringify(event.snapshot),
    event.requestId,
  ]);
  transaction.notifyAfterCommit();
}
