import type { Lane } from './lane.ts';

/** A target is read again in the background after this time. */
export const targetRefreshMs = 4_000;

/** Nothing is sent to a target that was read longer ago. */
const targetMaxAgeMs = 5_000;

/** A delivery that was taken this often without a result is sent while nothing else is in flight. */
const claimsToIsolate = 3;

/** A delivery that was taken this often without a result is not sent again. */
const claimsMax = 5;

/**
 * What a lane needs before it can start a request:
 *
 * - `nothing`: it has nothing to send, or continues when a request ends, is settled or read
 * - `time`: its first delivery is not due, or its receiver may not be called yet
 * - `deliveries`: its next deliveries are in storage only
 * - `target`: its target has not been read in the last 5 s
 * - `count`: the take of its first delivery must be counted
 * - `run-alone`: its first delivery was taken three times, and must be sent while nothing else is in flight
 * - `give-up`: its first delivery was taken five times, and must be given up
 * - `slot`: nothing but a slot
 */
export type LaneNeed = 'nothing' | 'time' | 'deliveries' | 'target' | 'count' | 'isolated-run' | 'give-up' | 'slot';

export function laneNeed(lane: Lane, nowMs: number): LaneNeed {
  if (!lane.isOpen || !lane.hasCapacity) return 'nothing';
  const { readyAtMs } = lane;
  if (readyAtMs > nowMs) return readyAtMs === Infinity ? 'nothing' : 'time';
  const { first } = lane.queue;
  if (first === undefined) return lane.isRefilling ? 'nothing' : 'deliveries';
  if (!hasFreshTarget(lane, nowMs)) return 'target';
  const { claims } = first.delivery;
  if (claims >= claimsMax) return 'give-up';
  if (claims >= claimsToIsolate) return 'isolated-run';
  if (lane.isRecovering && !first.isCounted) return lane.isCounting ? 'nothing' : 'count';
  return 'slot';
}

export function hasFreshTarget(lane: Lane, nowMs: number): boolean {
  return lane.target !== null && nowMs - lane.targetReadAtMs < targetMaxAgeMs;
}
