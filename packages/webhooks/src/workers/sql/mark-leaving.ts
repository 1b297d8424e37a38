import type { Transaction } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';
import { workersChanged } from '../workers-changed.ts';

/** Excludes the worker from the next shares. */
export async function markLeaving(transaction: Transaction, workerId: WorkerId): Promise<void> {
  const statement = {
    name: 'mark-leaving',
    // Index: the primary key.
    text: `update webhook_worker set leaving = true where id = $1 and alive`,
  };
  await transaction.query(statement, [workerId]);
  transaction.notifyAfterCommit(workersChanged);
}
