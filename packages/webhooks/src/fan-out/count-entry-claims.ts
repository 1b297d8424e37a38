import type { Database } from '@deedwire/store';
import { rowOfLiveWorker } from '../fence/row-of-live-worker.ts';
import type { WorkerId } from '../fence/worker-id.ts';
import { pgArray } from '../kernel/pg-array.ts';
import type { Shard } from '../kernel/shard.ts';
import type { QueueEntry } from './queue-entry.ts';

/**
 * Counts that this worker claims the entries, before it renders them.
 *
 * Served by webhook_event_queue_pkey.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function countEntryClaims(
  database: Database,
  workerId: WorkerId,
  entries: readonly { readonly shard: Shard; readonly entry: QueueEntry }[],
): Promise<void> {
  const statement = {
    name: 'fan-out-count-entry-takes',
    text: `
      with worker as (select id from webhook_worker where id = $1 and alive for key share),
      counted as (
        update webhook_event_queue q
        set takes = q.takes + 1
        from worker, unnest($2::smallint[], $3::bigint[]) as entry (shard, position)
        cross join lateral (
          select ctid from webhook_event_queue where shard = entry.shard and position = entry.position limit 1
        ) found
        where q.ctid = found.ctid
        returning q.position
      )
      select exists (select from worker) as "isAlive", (select count(*) from counted)::int as counted`,
  };
  const rows = await database.query<{ isAlive: boolean }>(statement, [
    workerId,
    pgArray(entries.map(({ shard }) => shard)),
    pgArray(entries.map(({ entry }) => entry.position)),
  ]);
  rowOfLiveWorker(rows, workerId);
}
