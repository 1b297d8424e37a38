import type { Database } from '@deedwire/store';
import type { WorkerId } from '../fence/worker-id.ts';
import type { SubscriptionId } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { selectPayloads } from './sql/select-payloads.ts';
import { type LanePosition, selectPendingDeliveries, type StoredDelivery } from './sql/select-pending-deliveries.ts';
import type { Refill, RefillOptions } from './storage.ts';

/**
 * Deliveries that are due later than this stay in storage. After a handover, the former owner may still record their
 * results.
 */
const readAheadMs = 1_000;

/**
 * Reads the first deliveries of a lane with their bodies. Skips deliveries without a payload.
 *
 * @param onPayloadMissing called for each delivery that has no payload although it has not expired
 * @throws {FencedOutError} if the worker was declared dead
 */
export async function refillLane(
  database: Database,
  workerId: WorkerId,
  lane: SubscriptionId,
  { fromDueAtMs, limit, bodyBytesMax, exclude }: RefillOptions,
  onPayloadMissing: (delivery: StoredDelivery) => void,
): Promise<Refill> {
  for (let position: LanePosition = { dueAtMs: fromDueAtMs, sequence: '0' }; ;) {
    // One row more than can be returned: its due time decides when to read the lane again.
    const { nowMs, deliveries: rows } = await selectPendingDeliveries(
      database,
      workerId,
      lane,
      position,
      exclude,
      limit + 1,
    );
    const isLater = ({ dueAtMs }: StoredDelivery): boolean => dueAtMs > nowMs + readAheadMs;
    const later = rows.findIndex(isLater);
    const due = later === -1 ? rows : rows.slice(0, later);
    const chosen = due.slice(0, countWithin(due, limit, bodyBytesMax));
    const next = rows[chosen.length];
    const bodies = chosen.length === 0 ? [] : await selectPayloads(database, chosen);
    const deliveries: PendingDelivery[] = [];
    for (const [index, row] of chosen.entries()) {
      const body = bodies[index];
      if (body === undefined) onPayloadMissing(row);
      else deliveries.push({ ...row, body });
    }
    const last = chosen.at(-1);
    // If every payload of this part is missing, continues after it. Otherwise the lane would read this part forever.
    if (deliveries.length > 0 || next === undefined || last === undefined) {
      return { deliveries, nextDueAtMs: next?.dueAtMs ?? null };
    }
    position = last;
  }
}

/** How many of the first rows are within both bounds. At least one, if there is any. */
function countWithin(rows: readonly StoredDelivery[], limit: number, bodyBytesMax: number): number {
  let bodyBytes = 0;
  for (const [index, row] of rows.entries()) {
    bodyBytes += row.bodyBytes;
    if (index === limit || (index > 0 && bodyBytes > bodyBytesMax)) return index;
  }
  return rows.length;
}
