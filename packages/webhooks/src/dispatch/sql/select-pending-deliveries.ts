import type { Database, Statement } from '@deedwire/store';
import { rowOfLiveWorker } from '../../fence/row-of-live-worker.ts';
import type { WorkerId } from '../../fence/worker-id.ts';
import type { AccountId, DeliveryId, EventId, SubscriptionId } from '../../kernel/ids.ts';
import type { PendingDelivery } from '../../kernel/pending-delivery.ts';
import { pgArray } from '../../kernel/pg-array.ts';

// One row with JSON: a row per delivery would cost the worker several times as much. Ids are texts, because JSON.parse
// rounds large numbers. Expired deliveries no longer have a payload; retention deletes them.
// The subselect hides the limit from the planner, which then expects it to cut off most rows, and reads in the order of the
// index. With the value, it would read and sort all rows of a lane whose length it underestimates.
// webhook_pending_delivery_due, webhook_worker by primary key.
const selectPendingStatement: Statement = {
  name: 'select-pending-deliveries',
  text: `
    select exists (select from webhook_worker where id = $1 and alive) as "isAlive",
      date_part('epoch', clock_timestamp()) * 1000 as now_ms,
      coalesce(json_agg(json_build_array(delivery_id::text, account_id::text, event_id::text, event_type, event_version,
        round(date_part('epoch', occurred_at) * 1000), request_id, sequence::text, attempts, takes,
        round(date_part('epoch', due_at) * 1000), body_bytes) order by due_at, sequence), '[]') as deliveries
    from (
      select *
      from webhook_pending_delivery
      where subscription_id = $2 and (due_at, sequence) > (to_timestamp($3::float8 / 1000), $4::bigint)
        and delivery_id <> all($5::bigint[])
        and delivery_id >= (select expired_before from webhook_retention)
      order by due_at, sequence
      limit (select $6::int)
    ) first_deliveries`,
};

/** Where the previous part of a lane ended: the last delivery that was read. */
export interface LanePosition {
  readonly dueAtMs: number;
  readonly sequence: string;
}

export const laneStart: LanePosition = { dueAtMs: -Infinity, sequence: '0' };

type PendingTuple = [
  deliveryId: DeliveryId,
  accountId: AccountId,
  eventId: EventId,
  eventType: string,
  eventVersion: string,
  occurredAtMs: number,
  requestId: string | null,
  sequence: string,
  attempts: number,
  claims: number,
  dueAtMs: number,
  bodyBytes: number,
];

/** A pending delivery without its body. */
export interface StoredDelivery extends Omit<PendingDelivery, 'body'> {
  readonly bodyBytes: number;
}

export interface PendingDeliveries {
  readonly nowMs: number;
  readonly deliveries: readonly StoredDelivery[];
}

/**
 * Reads the first deliveries of a subscription after a position, in the order of due time and sequence.
 *
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function selectPendingDeliveries(
  database: Database,
  workerId: WorkerId,
  subscriptionId: SubscriptionId,
  after: LanePosition,
  exclude: readonly DeliveryId[],
  limit: number,
): Promise<PendingDeliveries> {
  const values = [workerId, subscriptionId, after.dueAtMs, after.sequence, pgArray(exclude), limit];
  const rows = await database.query<{ isAlive: boolean; now_ms: number; deliveries: PendingTuple[] }>(
    selectPendingStatement,
    values,
  );
  const row = rowOfLiveWorker(rows, workerId);
  const deliveries = row.deliveries.map(
    ([deliveryId, accountId, eventId, eventType, eventVersion, occurredAtMs, requestId, sequence, ...rest]) => {
      const [attempts, claims, dueAtMs, bodyBytes] = rest;
      const occurredAt = new Date(occurredAtMs);
      return {
        deliveryId,
        subscriptionId,
        accountId,
        eventId,
        eventType,
        eventVersion,
        occurredAt,
        requestId,
        sequence,
        attempts,
        claims,
        dueAtMs,
        bodyBytes,
      };
    },
  );
  return { nowMs: row.now_ms, deliveries };
}
