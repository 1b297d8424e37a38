import type { Database } from '@deedwire/store';
import type { DeliveryId } from '../kernel/ids.ts';
import { groupIds } from './pages.ts';

export interface AttemptRow {
  deliveryId: DeliveryId;
  number: number;
  startedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  error: string | null;
}

// Each attempt costs up to one buffer, each delivery three, and each day 3 locks.
const idsPerStatement = 20;
const daysPerStatement = 14;

/**
 * Returns the latest attempts of each delivery, newest first within a delivery. Each statement reads a bounded number of
 * rows and partitions.
 */
export async function selectAttempts(
  database: Database,
  deliveryIds: readonly DeliveryId[],
  limitPerDelivery: number,
): Promise<AttemptRow[]> {
  const newestFirst = deliveryIds.toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const rows: AttemptRow[] = [];
  for (const group of groupIds(newestFirst, idsPerStatement, daysPerStatement)) {
    rows.push(...(await selectGroup(database, group, limitPerDelivery)));
  }
  return rows;
}

/** Served by webhook_attempt_pkey. The bounds of the ids select the partitions. */
async function selectGroup(
  database: Database,
  ids: readonly DeliveryId[],
  limitPerDelivery: number,
): Promise<AttemptRow[]> {
  const statement = {
    name: 'select-attempts',
    planning: 'for-values' as const,
    text: `
      select a.delivery_id as "deliveryId", a.number, a.started_at as "startedAt", a.duration_ms as "durationMs",
        a.response_status as "responseStatus", a.error
      from unnest($1::bigint[]) as d (id)
      cross join lateral (
        select *
        from webhook_attempt
        where delivery_id = d.id and delivery_id between $2::bigint and $3::bigint
        order by number desc
        limit $4
      ) a
      order by a.delivery_id, a.number desc`,
  };
  return database.query<AttemptRow>(statement, [ids, ids.at(-1), ids[0], limitPerDelivery]);
}
