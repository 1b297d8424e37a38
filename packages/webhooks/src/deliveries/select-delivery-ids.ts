import type { Database } from '@deedwire/store';
import type { DeliveryId, SubscriptionId } from '../kernel/ids.ts';
import type { DeliveryStatus } from './delivery-row.ts';
import type { IdRange } from './id-range.ts';

/** The tables that list deliveries by subscription and id. */
export type DeliveryIndex = 'every' | 'successful' | 'pending' | 'failed';

/** @param status null for any status */
export function indexOf(status: DeliveryStatus | null): DeliveryIndex {
  const indexes = { PENDING: 'pending', DELIVERED: 'successful', FAILED: 'failed', EXPIRED: 'failed' } as const;
  return status === null ? 'every' : indexes[status];
}

/** A subscription, and where its list continues. */
export interface ListPosition {
  subscriptionId: SubscriptionId;
  /** Only smaller ids. */
  before: bigint;
}

export interface DeliveryIdRow {
  subscriptionId: SubscriptionId;
  id: DeliveryId;
}

const sources: Record<DeliveryIndex, { table: string; id: string; condition: string }> = {
  // webhook_delivery_by_subscription
  every: { table: 'webhook_delivery', id: 'id', condition: '' },
  // webhook_attempt_successful
  successful: {
    table: 'webhook_attempt',
    id: 'delivery_id',
    condition: 'and d.error is null and d.response_status between 200 and 299',
  },
  // webhook_pending_delivery_pkey
  pending: { table: 'webhook_pending_delivery', id: 'delivery_id', condition: '' },
  // webhook_failed_delivery_pkey
  failed: { table: 'webhook_failed_delivery', id: 'delivery_id', condition: '' },
};

/**
 * Returns the newest ids of each subscription. A delivery with two successful attempts appears twice.
 *
 * `= any (array[…])` and the order by both columns force the index of the subscription: only this index gives the order.
 * Otherwise PostgreSQL may scan the ids of all subscriptions in order and filter them.
 *
 * @param range limits the partitions that are read
 * @param limit for each subscription
 */
export async function selectDeliveryIds(
  database: Database,
  index: DeliveryIndex,
  positions: readonly ListPosition[],
  range: IdRange,
  limit: number,
): Promise<DeliveryIdRow[]> {
  const { table, id, condition } = sources[index];
  const statement = {
    name: `select-delivery-ids-${index}`,
    planning: 'in-index-order' as const,
    text: `
      select p.subscription_id as "subscriptionId", newest.id
      from unnest($1::bigint[], $2::bigint[]) as p (subscription_id, before)
      cross join lateral (
        select d.${id} as id
        from ${table} d
        where d.subscription_id = any (array[p.subscription_id])
          and d.${id} < p.before
          and d.${id} >= $3::bigint and d.${id} < $4::bigint ${condition}
        order by d.subscription_id desc, d.${id} desc
        limit $5
      ) newest`,
  };
  return database.query<DeliveryIdRow>(statement, [
    positions.map(({ subscriptionId }) => subscriptionId),
    positions.map(({ before }) => before),
    range.min,
    range.before,
    limit,
  ]);
}
