import type { AccountId, EventSnapshots, InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertEvent } from '@deedwire/webhooks/outbox';

/**
 * Appends the event that reports a change to an account, in the transaction of the change.
 *
 * @param requestId the id of the API request that made the change. Omitted for changes by an operator.
 */
export async function appendEvent<Type extends keyof EventSnapshots>(
  transaction: Transaction,
  account: { id: AccountId; interfaceName: InterfaceName },
  type: Type,
  snapshot: EventSnapshots[Type],
  requestId?: string,
): Promise<void> {
  const { id: accountId, interfaceName } = account;
  await insertEvent(transaction, { accountId, interfaceName, type, snapshot, requestId: requestId ?? null });
}
