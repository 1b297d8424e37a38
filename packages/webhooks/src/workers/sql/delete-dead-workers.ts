import type { Database } from '@deedwire/store';

/** Removes the rows of workers that died a day ago. Operators can see them until then. */
export async function deleteDeadWorkers(database: Database): Promise<void> {
  const statement = {
    name: 'delete-dead-workers',
    // webhook_worker has one row for each process, webhook_shard 64.
    text: `
      delete from webhook_worker w
      where not alive and leased_until < clock_timestamp() - interval '1 day'
        and not exists (select from webhook_shard s where s.worker_id = w.id)`,
  };
  await database.query(statement, []);
}
