import type { Database, Statement } from '@deedwire/store';
import { onlyRow } from '@deedwire/store';
import type { AccountId, SubscriptionId } from '../../kernel/ids.ts';
import type { LaneId } from '../../kernel/lane-id.ts';
import { pgArray } from '../../kernel/pg-array.ts';
import type { Shard } from '../../kernel/shard.ts';

// The limit makes this one lookup per subscription, however many deliveries it has.
// webhook_subscription_by_shard, webhook_pending_delivery by primary key.
const selectLanesStatement: Statement = {
  name: 'select-lanes-of-shards',
  text: `
    select coalesce(json_agg(json_build_array(s.id::text, s.account_id::text)), '[]') as lanes
    from webhook_subscription s
    cross join lateral (select from webhook_pending_delivery p where p.subscription_id = s.id limit 1) pending
    where s.shard = any($1::smallint[]) and s.deleted_at is null and s.paused_reason is null`,
};

/** Reads the subscriptions of these shards that have pending deliveries and are neither paused nor deleted. */
export async function selectLanesOfShards(database: Database, shards: readonly Shard[]): Promise<LaneId[]> {
  const { lanes } = onlyRow(
    await database.query<{ lanes: [SubscriptionId, AccountId][] }>(selectLanesStatement, [pgArray(shards)]),
  );
  return lanes.map(([subscriptionId, accountId]) => ({ subscriptionId, accountId }));
}
