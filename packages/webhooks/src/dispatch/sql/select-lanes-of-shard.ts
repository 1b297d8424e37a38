import { type Database, onlyRow, type Statement } from '@deedwire/store';
import type { AccountId, SubscriptionId } from '../../kernel/ids.ts';
import type { LaneId } from '../../kernel/lane-id.ts';
import type { Shard } from '../../kernel/shard.ts';

// The limits make this one lookup per subscription of the page, however many deliveries it has.
// webhook_subscription_by_shard, webhook_pending_delivery by primary key.
const selectLanesStatement: Statement = {
  name: 'select-lanes-of-shard',
  planning: 'in-index-order',
  text: `
    with page as (
      select id, account_id, paused_reason
      from webhook_subscription
      where shard = $1 and deleted_at is null and id > $2
      order by id
      limit $3
    )
    select
      coalesce(json_agg(json_build_array(page.id::text, page.account_id::text)) filter (where pending.found), '[]') as lanes,
      case when count(*) = $3 then max(page.id)::text end as last
    from page
    left join lateral (
      select true as found from webhook_pending_delivery p where p.subscription_id = page.id limit 1
    ) pending on page.paused_reason is null`,
};

export interface LanePage {
  /** The subscriptions of the page that have pending deliveries and are neither paused nor deleted. */
  readonly lanes: readonly LaneId[];
  /** Where the next page starts. Null if there are no further subscriptions. */
  readonly last: SubscriptionId | null;
}

/**
 * Reads the lanes among the next subscriptions of a shard, in the order of their ids.
 *
 * @param after null reads the first page
 * @param limit how many subscriptions to examine
 */
export async function selectLanesOfShard(
  database: Database,
  shard: Shard,
  after: SubscriptionId | null,
  limit: number,
): Promise<LanePage> {
  const { lanes, last } = onlyRow(
    await database.query<{ lanes: [SubscriptionId, AccountId][]; last: SubscriptionId | null }>(selectLanesStatement, [
      shard,
      after ?? '0',
      limit,
    ]),
  );
  return { lanes: lanes.map(([subscriptionId, accountId]) => ({ subscriptionId, accountId })), last };
}
