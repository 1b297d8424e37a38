import type { LaneId } from '../kernel/ids.ts';
import { noClaims, type PendingDelivery } from '../kernel/pending-delivery.ts';
import type { RoundPlan } from './round-plan.ts';
import type { WrittenRound } from './sql/round.ts';

export interface RoundResult {
  readonly offered: readonly PendingDelivery[];
  /** Lanes whose deliveries must be read from storage. */
  readonly uncertain: readonly LaneId[];
  /** How many deliveries failed. */
  readonly failed: number;
}

/**
 * Returns the deliveries that can be sent immediately after the write. Deliveries of paused subscriptions stay in storage, as do
 * those of listeners.
 */
export function pendingDeliveries(plan: RoundPlan, written: WrittenRound): RoundResult {
  const { deliveryIds, sequencesBefore, writtenAtMs, storedAllPayloads } = written;
  const offered: PendingDelivery[] = [];
  const uncertain: LaneId[] = [];
  let failed = 0;
  for (const [index, { subscription, ordinal, event, version, payload, isTargeted }] of plan.deliveries.entries()) {
    const deliveryId = deliveryIds[index];
    const before = sequencesBefore[subscription.index];
    if (deliveryId === undefined || before === undefined) throw new Error('The write returned too few deliveries.');
    if (payload === null) failed += 1;
    else if (subscription.isPaused || subscription.isListener) continue;
    else if (isTargeted && !storedAllPayloads) {
      uncertain.push({ subscriptionId: subscription.id, accountId: subscription.accountId });
    } else {
      offered.push({
        deliveryId,
        subscriptionId: subscription.id,
        accountId: subscription.accountId,
        eventId: event.id,
        eventType: event.type,
        eventVersion: version,
        occurredAt: event.occurredAt,
        requestId: event.requestId,
        ...(event.traceParent !== undefined && { traceParent: event.traceParent }),
        isTest: event.isTest,
        sequence: String(before + ordinal),
        attempts: 0,
        priorAttempts: 0,
        replayId: null,
        claims: noClaims,
        dueAtMs: writtenAtMs,
        body: payload.body,
      });
    }
  }
  return { offered, uncertain, failed };
}
