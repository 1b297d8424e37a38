import type { Database } from '@deedwire/store';
import { rowOfLiveWorker } from '../../fence/row-of-live-worker.ts';
import type { WorkerId } from '../../fence/worker-id.ts';
import type { Shard } from '../../kernel/shard.ts';

export interface AcquiredShard {
  readonly shard: Shard;
  /**
   * The last owner died, and recovery is unfinished: claims are counted before entries are rendered and deliveries are
   * sent.
   */
  readonly isRecovering: boolean;
}

/**
 * Acquires free shards. Skips a shard that another worker is acquiring.
 *
 * @throws {FencedOutError}
 */
export async function acquireShards(database: Database, workerId: WorkerId, limit: number): Promise<AcquiredShard[]> {
  const statement = {
    name: 'acquire-shards',
    // Index: the primary key of webhook_worker. webhook_shard has 64 rows.
    text: `
      with worker as (select id from webhook_worker where id = $1 and alive for key share),
      free as (
        select s.shard, s.recovering
        from worker, webhook_shard s
        where s.worker_id is null
        order by s.shard
        limit $2
        for update of s skip locked
      ),
      acquired as (
        update webhook_shard s set worker_id = worker.id, recovering = false
        from worker, free
        where s.shard = free.shard
        returning s.shard, free.recovering
      )
      select
        exists (select from worker) as "isAlive",
        coalesce(
          (select json_agg(json_build_object('shard', shard, 'isRecovering', recovering) order by shard) from acquired),
          '[]'
        ) as shards`,
  };
  const rows = await database.query<{ isAlive: boolean; shards: AcquiredShard[] }>(statement, [workerId, limit]);
  return rowOfLiveWorker(rows, workerId).shards;
}
