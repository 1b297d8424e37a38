import type { InterfaceName, RecordId } from '@deedwire/domain';
import { insertOutboxEvent, type Database } from '@deedwire/store';

import type { EventSnapshots } from './snapshots.ts';

/** Reports a change to an account, in the transaction of the change. Call `notify` after the commit. */
export async function appendEvent<Type extends keyof EventSnapshots>(
  transaction: Database,
  account: { id: RecordId; interfaceName: InterfaceName },
  type: Type,
  snapshot: EventSnapshots[Type],
): Promise<void> {
  await insertOutboxEvent(transaction, { accountId: account.id, interfaceName: account.interfaceName, type, snapshot });
}
