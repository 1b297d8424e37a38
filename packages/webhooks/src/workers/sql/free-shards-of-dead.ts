import type { Transaction } from '@deedwire/store';
import type { Shard } from '../../kernel/shard.ts';
import { workersChanged } from '../workers-changed.ts';

/**
 * Frees the shards of dead workers. Locks the row of each worker, and so waits for its last statements, which locked the
 * row while the worker was alive. So a worker that reads a free shard sees everything that the old owner wrote.
 */
export async function freeShardsOfDead(transaction: Transaction): Promise<Shard[]> {
  const statement = {
    name: 'free-shards-of-dead',
    // Index: the primary key of webhook_worker. webhook_shard has 64 rows.
    text: `
      with dead as (
        select id from webhook_worker
        where not alive and id in (select worker_id from webhook_shard)
        order by id
        for update
      )
      update webhook_shard s set worker_id = null, recovering = true
      from dead
      where s.worker_id = dead.id
      returning s.shard`,
  };
  const rows = await transaction.query<{ shard: Shard }>(statement, []);
  if (rows.length > 0) transaction.notifyAfterCommit(workersChanged);
  return rows.map(({ shard }) => shard);
}
