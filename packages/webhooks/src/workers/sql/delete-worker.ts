import type { Database } from '@deedwire/store';
import type { WorkerId } from '../../fence/worker-id.ts';

/** Removes the row of a worker that has shut down. Does nothing while it owns shards. */
export async function deleteWorker(database: Database, workerId: WorkerId): Promise<void> {
  const statement = {
    name: 'delete-worker',
    // Index: the primary key. webhook_shard has 64 rows.
    text: `
      delete from webhook_worker
      where id = $1 and not exists (select from webhook_shard where worker_id = $1)`,
  };
  await database.query(statement, [workerId]);
}
