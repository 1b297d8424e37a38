import { cleanLaneState, type LaneState } from './lane-state.ts';

/** How many failures in a row open the breaker. */
export const failuresToOpen = 10;

const firstOpenMs = 5_000;
const openMaxMs = 5 * 60 * 1_000;

/** After this time with failures only, the subscription is paused. */
export const failingMaxMs = 96 * 60 * 60 * 1_000;

/** While the breaker is open, nothing is sent until `breakerOpenUntilMs`, and one request at a time after that. */
export function isBreakerOpen(state: LaneState): boolean {
  return state.breakerOpenUntilMs !== null;
}

/**
 * The state after a successful attempt: the breaker is closed. A `Retry-After` that has not passed still applies. Returns the
 * same object if nothing changed.
 */
export function afterSuccess(state: LaneState, nowMs: number): LaneState {
  const { consecutiveFailures, holdUntilMs } = state;
  const isHeld = holdUntilMs !== null && holdUntilMs > nowMs;
  if (consecutiveFailures === 0 && (isHeld || holdUntilMs === null)) return state;
  return isHeld ? { ...cleanLaneState, holdUntilMs } : cleanLaneState;
}

/**
 * The state after a failed attempt. The breaker opens for 5 s after ten failures in a row. Each failed probe doubles that
 * time, up to 5 min. A failure that arrives before the breaker allows a probe belongs to an earlier request and does not
 * prolong it.
 */
export function afterFailure(state: LaneState, nowMs: number): LaneState {
  const consecutiveFailures = state.consecutiveFailures + 1;
  const failed = { ...state, consecutiveFailures, failingSinceMs: state.failingSinceMs ?? nowMs };
  if (state.breakerOpenUntilMs === null) {
    if (consecutiveFailures < failuresToOpen) return failed;
    return { ...failed, breakerOpenUntilMs: nowMs + firstOpenMs, breakerProbes: 0 };
  }
  if (nowMs < state.breakerOpenUntilMs) return failed;
  const breakerProbes = state.breakerProbes + 1;
  const openMs = Math.min(firstOpenMs * 2 ** breakerProbes, openMaxMs);
  return { ...failed, breakerOpenUntilMs: nowMs + openMs, breakerProbes };
}

/** Whether the receiver has failed for 96 h without a success, so that its subscription must be paused. */
export function hasFailedForTooLong(state: LaneState, nowMs: number): boolean {
  return state.failingSinceMs !== null && nowMs - state.failingSinceMs >= failingMaxMs;
}
