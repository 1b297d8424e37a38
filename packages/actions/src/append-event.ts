import type { AccountId, EventSnapshots, InterfaceName } from '@deedwire/domain';
import type { InsertedRow, Transaction } from '@deedwire/store';
import { eventRow, insertEvent } from '@deedwire/webhooks/outbox';

interface EventAccount {
  id: AccountId;
  interfaceName: InterfaceName;
}

/**
 * Appends the event that reports a change to an account, in the transaction of the change.
 *
 * @param requestId the id of the API request that made the change. Omitted for changes by an operator.
 */
export async function appendEvent<Type extends keyof EventSnapshots>(
  transaction: Transaction,
  account: EventAccount,
  type: Type,
  snapshot: EventSnapshots[Type],
  requestId?: string,
): Promise<void> {
  await insertEvent(transaction, newEvent(account, type, snapshot, requestId));
}

/** As `appendEvent`, for a write that only inserts rows. */
export function appendedEvent<Type extends keyof EventSnapshots>(
  id: string,
  account: EventAccount,
  type: Type,
  snapshot: EventSnapshots[Type],
  requestId?: string,
): InsertedRow {
  return eventRow(id, newEvent(account, type, snapshot, requestId));
}

function newEvent(account: EventAccount, type: string, snapshot: object, requestId: string | undefined) {
  const { id: accountId, interfaceName } = account;
  return { accountId, interfaceName, type, snapshot, requestId: requestId ?? null };
}
