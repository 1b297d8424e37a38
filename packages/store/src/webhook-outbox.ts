import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Database } from './store.ts';

/** Reports a change, in the transaction of the change itself. */
export async function insertOutboxEvent(
  database: Database,
  event: {
    accountId: AccountId;
    interfaceName: InterfaceName;
    type: string;
    snapshot: object;
    /** The request that made the change, for the logs. Null: it was none to an interface. */
    requestId: string | null;
  },
): Promise<void> {
  const statement = {
    name: 'insert-outbox-event',
    text: `
      insert into outbox_event (account_id, interface, event_type, snapshot, request_id)
      values ($1, $2, $3, $4, $5)`,
  };
  await database.query(statement, [
    event.accountId,
    event.interfaceName,
    event.type,
    JSON.stringify(event.snapshot),
    event.requestId,
  ]);
}
