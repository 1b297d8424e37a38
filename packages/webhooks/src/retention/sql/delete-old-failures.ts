import { type Database, onlyRow } from '@deedwire/store';
import type { DeliveryId } from '../../kernel/ids.ts';
import { type Batch, batchRows, type BatchRow, toBatch } from './batch.ts';
import type { PendingKey } from './expire-pending-deliveries.ts';

/**
 * Deletes failures of deliveries whose partitions were dropped, and not before: without its failure, a delivery counts as
 * delivered. Reads one batch of the table in the order of its primary key.
 */
export async function deleteOldFailures(
  database: Database,
  deliveriesBefore: DeliveryId,
  after: PendingKey | null,
): Promise<Batch<PendingKey>> {
  const statement = {
    name: 'delete-old-failures',
    // Index: the primary key of webhook_failed_delivery.
    text: `
      with scanned as materialized (
        select ctid, subscription_id, delivery_id
        from webhook_failed_delivery
        where (subscription_id, delivery_id) > ($1::bigint, $2::bigint)
        order by subscription_id, delivery_id
        limit $4
      ),
      locked as (
        select f.ctid
        from scanned s
        join webhook_failed_delivery f on f.ctid = s.ctid
        where s.delivery_id < $3
        for update of f skip locked
      ),
      deleted as (
        delete from webhook_failed_delivery f
        using locked
        where f.ctid = locked.ctid
        returning f.delivery_id
      )
      select count(*)::int as scanned,
        (count(*) filter (where delivery_id < $3))::int as due,
        (select count(*) from deleted)::int as changed,
        (select jsonb_build_object('subscriptionId', subscription_id::text, 'deliveryId', delivery_id::text)
         from scanned order by subscription_id desc, delivery_id desc limit 1) as last
      from scanned`,
  };
  const values = [after?.subscriptionId ?? 0, after?.deliveryId ?? 0, deliveriesBefore, batchRows];
  return toBatch(onlyRow(await database.query<BatchRow<PendingKey>>(statement, values)));
}
