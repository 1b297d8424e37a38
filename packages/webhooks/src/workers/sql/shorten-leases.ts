import type { Database } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';

/**
 * Ends leases that are ahead of the clock of the database one lease from now. A worker that is alive renews its lease before.
 * A worker of an earlier release has stored no length of its lease, and keeps it.
 */
export async function shortenLeases(database: Database, workerIds: readonly WorkerId[]): Promise<void> {
  const statement = {
    name: 'shorten-leases',
    // Index: the primary key.
    text: `
      update webhook_worker
      set leased_until = least(leased_until, clock_timestamp() + lease_ms * interval '1 ms')
      where id = any ($1::bigint[]) and alive`,
  };
  await database.query(statement, [workerIds]);
}
