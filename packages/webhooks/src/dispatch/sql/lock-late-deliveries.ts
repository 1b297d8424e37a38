import type { Database, Statement } from '@deedwire/store';
import { rowOfLiveWorker } from '../../fence/row-of-live-worker.ts';
import type { WorkerId } from '../../fence/worker-id.ts';
import { idRange } from '../../kernel/id-order.ts';
import type { DeliveryId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/pg-array.ts';

// webhook_delivery by primary key, in the partitions between the first and the last id.
const lockLateDeliveriesStatement: Statement = {
  name: 'lock-late-deliveries',
  text: `
    with worker as (
      select id from webhook_worker where id = $1 and alive for key share
    ), locked as (
      select d.id
      from worker, webhook_delivery d
      where d.id = any($2::bigint[]) and d.id between $3 and $4
      order by d.id
      for no key update of d
    )
    select exists (select from worker) as "isAlive", coalesce(array_agg(id::text), '{}') as ids from locked`,
};

/**
 * Locks deliveries until the end of the transaction, so that concurrent late successes of one delivery are recorded one
 * after the other.
 *
 * @returns the deliveries that exist
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function lockLateDeliveries(
  database: Database,
  workerId: WorkerId,
  deliveries: readonly DeliveryId[],
): Promise<ReadonlySet<DeliveryId>> {
  const values = [workerId, pgArray(deliveries), ...idRange(deliveries)];
  const rows = await database.query<{ isAlive: boolean; ids: DeliveryId[] }>(lockLateDeliveriesStatement, values);
  return new Set(rowOfLiveWorker(rows, workerId).ids);
}
