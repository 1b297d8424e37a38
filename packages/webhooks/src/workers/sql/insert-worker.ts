import { onlyRow, type Transaction } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';
import { workersChanged } from '../workers-changed.ts';

/** Registers a worker. Its lease starts now, by the database clock. */
export async function insertWorker(transaction: Transaction, name: string, leaseMs: number): Promise<WorkerId> {
  const statement = {
    name: 'insert-worker',
    text: `
      insert into webhook_worker (name, leased_until, lease_ms)
      values ($1, clock_timestamp() + $2 * interval '1 ms', $2)
      returning id`,
  };
  const { id } = onlyRow(await transaction.query<{ id: WorkerId }>(statement, [name, leaseMs]));
  transaction.notifyAfterCommit(workersChanged);
  return id;
}
