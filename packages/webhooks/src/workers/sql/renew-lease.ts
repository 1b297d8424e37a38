import type { Database } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';

/**
 * Renews a lease. Writes no key column, so that it does not wait for statements that hold the fence (`for key share`).
 *
 * @returns false if the worker was declared dead
 */
export async function renewLease(database: Database, workerId: WorkerId, leaseMs: number): Promise<boolean> {
  const statement = {
    name: 'renew-lease',
    // Index: the primary key.
    text: `
      update webhook_worker set leased_until = clock_timestamp() + $2 * interval '1 ms'
      where id = $1 and alive
      returning id`,
  };
  return (await database.query(statement, [workerId, leaseMs])).length > 0;
}
