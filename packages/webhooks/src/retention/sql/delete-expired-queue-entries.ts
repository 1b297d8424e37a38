import { type Database, onlyRow } from '@deedwire/store';
import type { EventId } from '../../kernel/ids.ts';
import type { Shard } from '../../kernel/shard.ts';
import { type Batch, batchRows, type BatchRow, toBatch } from './batch.ts';

export interface QueueKey {
  readonly shard: Shard;
  readonly position: string;
}

/**
 * Deletes queued events whose partitions will be dropped. A round that has read one of them then writes nothing, because
 * its entry is missing. Reads one batch of the queue in the order of its primary key. Skips entries that are being fanned
 * out.
 */
export async function deleteExpiredQueueEntries(
  database: Database,
  eventsBefore: EventId,
  after: QueueKey | null,
): Promise<Batch<QueueKey>> {
  const statement = {
    name: 'delete-expired-queue-entries',
    // Index: the primary key of webhook_event_queue.
    text: `
      with scanned as materialized (
        select ctid, shard, position, coalesce(event_id < $3, false) as is_expired
        from webhook_event_queue
        where (shard, position) > ($1::smallint, $2::bigint)
        order by shard, position
        limit $4
      ),
      locked as (
        select q.ctid
        from scanned s
        join webhook_event_queue q on q.ctid = s.ctid
        where s.is_expired
        for update of q skip locked
      ),
      deleted as (
        delete from webhook_event_queue q
        using locked
        where q.ctid = locked.ctid
        returning q.position
      )
      select count(*)::int as scanned,
        (count(*) filter (where is_expired))::int as due,
        (select count(*) from deleted)::int as changed,
        (select jsonb_build_object('shard', shard, 'position', position::text)
         from scanned order by shard desc, position desc limit 1) as last
      from scanned`,
  };
  const values = [after?.shard ?? -1, after?.position ?? 0, eventsBefore, batchRows];
  return toBatch(onlyRow(await database.query<BatchRow<QueueKey>>(statement, values)));
}
