import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { shardOf } from '../kernel/shard.ts';

/**
 * Inserts an event into the outbox and into the queue of its account, in the transaction of the change that it reports.
 * Notifies the owner of the account's shard after the commit. No other statement writes events.
 */
export async function insertEvent(
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
    name: 'append-event',
    text: `
      with event as (
        insert into webhook_event (account_id, interface, event_type, snapshot, request_id)
        values ($1, $2, $3, $4, $5)
        returning id, account_id, interface
      )
      insert into webhook_event_queue (account_id, interface, event_id)
      select account_id, interface, id
      from event`,
  };
  const { accountId, interfaceName, type, snapshot, requestId } = event;
  await transaction.query(statement, [accountId, interfaceName, type, JSON.stringify(snapshot), requestId]);
  transaction.notifyAfterCommit(String(shardOf(accountId)));
}
