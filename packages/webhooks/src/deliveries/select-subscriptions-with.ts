import type { Database } from '@deedwire/store';
import type { SubscriptionId } from '../kernel/ids.ts';

/**
 * Returns subscriptions of any account that have pending or failed deliveries, in the order of their ids. Takes one step in
 * webhook_pending_delivery_pkey or webhook_failed_delivery_pkey for each, whatever the number of deliveries.
 *
 * @param afterId only subscriptions with a larger id
 */
export async function selectSubscriptionsWith(
  database: Database,
  deliveries: 'pending' | 'failed',
  afterId: SubscriptionId | null,
  limit: number,
): Promise<SubscriptionId[]> {
  const table = deliveries === 'pending' ? 'webhook_pending_delivery' : 'webhook_failed_delivery';
  const statement = {
    name: `select-subscriptions-with-${deliveries}`,
    text: `
      with recursive subscription as (
        (select subscription_id as id from ${table} where subscription_id > $1 order by subscription_id limit 1)
        union all
        select (select d.subscription_id from ${table} d where d.subscription_id > s.id order by d.subscription_id limit 1)
        from subscription s
        where s.id is not null
      )
      select id
      from subscription
      where id is not null
      limit $2`,
  };
  const rows = await database.query<{ id: SubscriptionId }>(statement, [afterId ?? '0', limit]);
  return rows.map(({ id }) => id);
}
