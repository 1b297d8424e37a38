import type { DeliveryId } from '../kernel/ids.ts';
import { cleanLaneState, type LaneState } from './lane-state.ts';
import { retriedWithinMs } from './retry-schedule.ts';

/** Consecutive failures that open the breaker. */
export const failuresToOpen = 10;

const firstOpenMs = 5_000;
const openMaxMs = 5 * 60 * 1_000;

/** A subscription is paused after a series of failures of this length. */
const failingMaxMs = 96 * 60 * 60 * 1_000;

/** Failures that are further apart are not one series. */
const failureGapMaxMs = retriedWithinMs;

/** While the breaker is open, the lane sends nothing until `breakerOpenUntilMs`, then one request at a time. */
export function isBreakerOpen(state: LaneState): boolean {
  return state.breakerOpenUntilMs !== null;
}

/**
 * Returns the state after a successful attempt, which closes the breaker. A `Retry-After` applies until its time has
 * passed. Returns the same object if nothing changed.
 */
export function afterSuccess(state: LaneState, nowMs: number): LaneState {
  const { consecutiveFailures, holdUntilMs } = state;
  const isHeld = holdUntilMs !== null && holdUntilMs > nowMs;
  if (consecutiveFailures === 0 && (isHeld || holdUntilMs === null)) return state;
  return isHeld ? { ...cleanLaneState, holdUntilMs } : cleanLaneState;
}

/**
 * Returns the state after a failed attempt. Unless the receiver is proven to be the cause, the failure is not a part of the series
 * that pauses the subscription. Ten consecutive failures open the breaker for 5 s. Each failed probe
 * doubles that time, up to 5 min. A failure that arrives before the breaker allows a probe belongs to an earlier
 * request, and does not extend the time.
 */
export function afterFailure(
  state: LaneState,
  nowMs: number,
  isProven = true,
  lastFailedDeliveryId: DeliveryId | null = null,
): LaneState {
  const consecutiveFailures = state.consecutiveFailures + 1;
  const { lastFailureMs } = state;
  const continues = lastFailureMs !== null && nowMs - lastFailureMs <= failureGapMaxMs;
  const failingSinceMs = continues ? (state.failingSinceMs ?? nowMs) : nowMs;
  const last = { failingSinceMs, lastFailureMs: nowMs, lastFailedDeliveryId };
  const failed = { ...state, consecutiveFailures, ...(isProven && last) };
  if (state.breakerOpenUntilMs === null) {
    if (consecutiveFailures < failuresToOpen) return failed;
    return { ...failed, breakerOpenUntilMs: nowMs + firstOpenMs, breakerProbes: 0 };
  }
  if (nowMs < state.breakerOpenUntilMs) return failed;
  const breakerProbes = state.breakerProbes + 1;
  const openMs = Math.min(firstOpenMs * 2 ** breakerProbes, openMaxMs);
  return { ...failed, breakerOpenUntilMs: nowMs + openMs, breakerProbes };
}

/**
 * Whether attempts have failed for 96 h without a success, so that the subscription must be paused. A time without attempts
 * is not counted.
 */
export function hasFailedForTooLong(state: LaneState, nowMs: number): boolean {
  return state.failingSinceMs !== null && nowMs - state.failingSinceMs >= failingMaxMs;
}
