import { type Database, onlyRow } from '@deedwire/store';
import type { DeliveryId, EventId, SubscriptionId } from '../../kernel/ids.ts';
import { type Batch, batchRows, type BatchRow, toBatch } from './batch.ts';

export interface PendingKey {
  readonly subscriptionId: SubscriptionId;
  readonly deliveryId: DeliveryId;
}

/**
 * Expires pending deliveries: those with an id before `deliveriesBefore`, and those whose event and payload will be
 * dropped. Reads one batch of the table in the order of its primary key.
 *
 * Skips rows that are being settled. It never waits for a lock, and other statements wait for its locks during one batch
 * only.
 */
export async function expirePendingDeliveries(
  database: Database,
  bounds: { deliveriesBefore: DeliveryId; eventsBefore: EventId },
  after: PendingKey | null,
): Promise<Batch<PendingKey>> {
  const statement = {
    name: 'expire-pending-deliveries',
    // Index: the primary key of webhook_pending_delivery.
    text: `
      with scanned as materialized (
        select ctid, subscription_id, delivery_id, delivery_id < $3 or event_id < $4 as is_expired
        from webhook_pending_delivery
        where (subscription_id, delivery_id) > ($1::bigint, $2::bigint)
        order by subscription_id, delivery_id
        limit $5
      ),
      locked as (
        select p.ctid
        from scanned s
        join webhook_pending_delivery p on p.ctid = s.ctid
        where s.is_expired
        for update of p skip locked
      ),
      ended as (
        delete from webhook_pending_delivery p
        using locked
        where p.ctid = locked.ctid
        returning p.subscription_id, p.delivery_id, p.interface
      ),
      failed as (
        insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
        select subscription_id, delivery_id, interface from ended
        on conflict do nothing
      )
      select count(*)::int as scanned,
        (count(*) filter (where is_expired))::int as due,
        (select count(*) from ended)::int as changed,
        (select jsonb_build_object('subscriptionId', subscription_id::text, 'deliveryId', delivery_id::text)
         from scanned order by subscription_id desc, delivery_id desc limit 1) as last
      from scanned`,
  };
  const { deliveriesBefore, eventsBefore } = bounds;
  const values = [after?.subscriptionId ?? 0, after?.deliveryId ?? 0, deliveriesBefore, eventsBefore, batchRows];
  return toBatch(onlyRow(await database.query<BatchRow<PendingKey>>(statement, values)));
}
