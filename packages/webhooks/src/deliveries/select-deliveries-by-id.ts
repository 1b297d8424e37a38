import type { AccountId } from '@deedwire/domain';
import type { Database } from '@deedwire/store';
import type { DeliveryId } from '../kernel/ids.ts';
import type { DeliveryRow } from './delivery-row.ts';
import { groupIds } from './id-range.ts';

// Each delivery costs up to 16 buffers, and each day 3 locks.
const idsPerStatement = 30;
const daysPerStatement = 10;

/**
 * Returns deliveries with their status, newest first. Skips deliveries of another account, of a deleted subscription or of
 * a dropped partition. Each statement reads a bounded number of rows and partitions.
 *
 * @param accountId null for any account
 * @param ids newest first
 */
export async function selectDeliveriesById(
  database: Database,
  accountId: AccountId | null,
  ids: readonly DeliveryId[],
): Promise<DeliveryRow[]> {
  const rows: DeliveryRow[] = [];
  for (const group of groupIds(ids, idsPerStatement, daysPerStatement)) {
    rows.push(...(await selectGroup(database, accountId, group)));
  }
  return rows;
}

/**
 * Served by the primary keys of all tables. The limits keep PostgreSQL from scanning the tables for a hash join. The bounds of
 * the ids select the partitions.
 */
async function selectGroup(
  database: Database,
  accountId: AccountId | null,
  ids: readonly DeliveryId[],
): Promise<DeliveryRow[]> {
  const statement = {
    name: 'select-deliveries-by-id',
    planning: 'for-values' as const,
    text: `
      select d.id, d.subscription_id as "subscriptionId", d.sequence,
        case
          when f.delivery_id < r.expired_before then 'EXPIRED'
          when f.delivery_id is not null then 'FAILED'
          when p.delivery_id is not null then 'PENDING'
          else 'DELIVERED'
        end as status,
        d.event_id as "eventId", d.event_type as "eventType", d.event_version as "eventVersion",
        d.occurred_at as "occurredAt", case when s.paused_at is null then p.due_at end as "dueAt"
      from webhook_delivery d
      cross join webhook_retention r
      cross join lateral (
        select paused_at
        from webhook_subscription
        where id = d.subscription_id and deleted_at is null
        limit 1
      ) s
      left join lateral (
        select delivery_id
        from webhook_failed_delivery
        where subscription_id = d.subscription_id and delivery_id = d.id
        limit 1
      ) f on true
      left join lateral (
        select delivery_id, due_at
        from webhook_pending_delivery
        where subscription_id = d.subscription_id and delivery_id = d.id
        limit 1
      ) p on true
      where d.id = any ($1::bigint[]) and d.id between $2::bigint and $3::bigint
        and ($4::bigint is null or d.account_id = $4)
      order by d.id desc`,
  };
  return database.query<DeliveryRow>(statement, [ids, ids.at(-1), ids[0], accountId]);
}
