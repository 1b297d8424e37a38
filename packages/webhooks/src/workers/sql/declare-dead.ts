import type { Database } from '@deedwire/store';
import type { WorkerId } from '../worker-id.ts';

/**
 * Declares workers dead whose lease has expired. From its commit on, their statements find no fence and write nothing.
 *
 * It is committed on its own. A lock `for update` in the same transaction could wait forever: until the commit, further
 * statements of the worker find it alive and share their lock with those that already hold it.
 *
 * @returns those that were declared dead by this call
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
