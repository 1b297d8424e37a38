import type { Database } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';

/**
 * Declares workers dead whose leases have expired. Once this is committed, their fenced statements write nothing.
 *
 * It needs its own transaction. A lock `for update` in the same transaction could wait forever: until the commit, further
 * statements of the worker find it alive and join the holders of the shared lock.
 *
 * @returns the workers that this call declared dead
 */
export async function declareDead(database: Database, workerIds: readonly WorkerId[]): Promise<WorkerId[]> {
  const statement = {
    name: 'declare-dead',
    // Index: the primary key.
    text: `
      update webhook_worker set alive = false
      where id = any ($1::bigint[]) and alive and leased_until < clock_timestamp()
      returning id`,
  };
  const rows = await database.query<{ id: WorkerId }>(statement, [workerIds]);
  return rows.map(({ id }) => id);
}
