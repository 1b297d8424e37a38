import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { Lane } from './lane.ts';

/** A delivery that was claimed this often without a result may have ended its workers. See `SuspectRuns`. */
const claimsToSuspect = 2;

/** A delivery that was claimed this often without a result fails. */
const claimsMax = 5;

/** Whether the delivery may have ended its workers. */
export function isSuspect({ claims }: PendingDelivery): boolean {
  return claims.length >= claimsToSuspect;
}

/**
 * What a lane needs before it can start a request:
 *
 * - `nothing`: it is closed, has no capacity or nothing to send, or waits for a refill that is in progress
 * - `time`: its first delivery is not due, or the breaker, `Retry-After` or an error holds the lane back
 * - `deliveries`: its next deliveries are in storage only, or a mark may make others due that it will read
 * - `target`: its target is missing or too old, or its marks are not known
 * - `suspect-run`: its first delivery was claimed twice, and `SuspectRuns` must send it
 * - `give-up`: its first delivery was claimed five times, and must fail
 * - `slot`: only a slot
 */
export type LaneNeed = 'nothing' | 'time' | 'deliveries' | 'target' | 'suspect-run' | 'give-up' | 'slot';

export function laneNeed(lane: Lane, nowMs: number): LaneNeed {
  const { phase, source } = lane;
  if ((phase !== 'open' && phase !== 'loading') || !lane.hasCapacity) return 'nothing';
  const { readyAtMs } = lane;
  if (readyAtMs > nowMs) return readyAtMs === Infinity ? 'nothing' : 'time';
  const first = lane.dueQueue(nowMs)?.first;
  const mayFollow = first === undefined || (first.isHastened && source.dueAtMs <= nowMs);
  // Nothing is due, unless a mark says so.
  if (mayFollow && !source.isRefilling) return phase === 'loading' && source.dueAtMs > nowMs ? 'target' : 'deliveries';
  // The probe of an open breaker is what is due, if anything is.
  if (first === undefined || (first.isHastened && source.isRefilling && lane.receiver.isBreakerOpen)) return 'nothing';
  if (!lane.target.isFresh(nowMs)) return 'target';
  if (first.delivery.claims.length >= claimsMax) return 'give-up';
  return isSuspect(first.delivery) ? 'suspect-run' : 'slot';
}
