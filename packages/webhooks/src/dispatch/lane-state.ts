import type { DeliveryId } from '../kernel/ids.ts';

/**
 * The history of the receiver of a lane. It is stored per subscription, so that the next owner knows it. Times are in
 * milliseconds.
 */
export interface LaneState {
  /** Failed attempts since the last success, of any delivery. */
  readonly consecutiveFailures: number;
  /**
   * No request is sent before this time while the breaker is open, and single probes after it. Null while the breaker
   * is closed.
   */
  readonly breakerOpenUntilMs: number | null;
  /** Probes that failed since the breaker opened. */
  readonly breakerProbes: number;
  /**
   * The receiver asked to receive no requests before this time (`Retry-After`). Null if it did not ask. Can lie in the
   * past.
   */
  readonly holdUntilMs: number | null;
  /**
   * The start of the current series of failures: the first failure after the last success, or after a time in which no
   * attempt failed. Null if no attempt failed since the last success.
   */
  readonly failingSinceMs: number | null;
  /** The last failure since the last success. Null if there was none, or if a worker of an earlier release stored it. */
  readonly lastFailureMs: number | null;
  /** The delivery of the last failure. Null as the time, or if a worker of an earlier release stored the state. */
  readonly lastFailedDeliveryId: DeliveryId | null;
}

/** The state of a receiver that has not failed. */
export const cleanLaneState: LaneState = Object.freeze({
  consecutiveFailures: 0,
  breakerOpenUntilMs: null,
  breakerProbes: 0,
  holdUntilMs: null,
  failingSinceMs: null,
  lastFailureMs: null,
  lastFailedDeliveryId: null,
});

/** Whether both states are equal, except for the rounding of times in storage. */
export function isSameLaneState(a: LaneState, b: LaneState): boolean {
  if (a === b) return true;
  return (
    a.consecutiveFailures === b.consecutiveFailures &&
    a.breakerProbes === b.breakerProbes &&
    a.lastFailedDeliveryId === b.lastFailedDeliveryId &&
    isSameTime(a.breakerOpenUntilMs, b.breakerOpenUntilMs) &&
    isSameTime(a.holdUntilMs, b.holdUntilMs) &&
    isSameTime(a.failingSinceMs, b.failingSinceMs) &&
    isSameTime(a.lastFailureMs, b.lastFailureMs)
  );
}

function isSameTime(aMs: number | null, bMs: number | null): boolean {
  return aMs === bMs || (aMs !== null && bMs !== null && Math.abs(aMs - bMs) <= 1);
}

/** Converts the times of a state to a clock that is ahead by `offsetMs`. */
export function shiftLaneState(state: LaneState, offsetMs: number): LaneState {
  if (offsetMs === 0) return state;
  const shift = (timeMs: number | null): number | null => (timeMs === null ? null : timeMs + offsetMs);
  return {
    ...state,
    breakerOpenUntilMs: shift(state.breakerOpenUntilMs),
    holdUntilMs: shift(state.holdUntilMs),
    failingSinceMs: shift(state.failingSinceMs),
    lastFailureMs: shift(state.lastFailureMs),
  };
}

/** Holds the lane until `untilMs`, or longer if an earlier `Retry-After` lasts longer. */
export function holdLane(state: LaneState, untilMs: number): LaneState {
  return { ...state, holdUntilMs: Math.max(state.holdUntilMs ?? 0, untilMs) };
}

/** When the breaker and `Retry-After` allow the next request. -Infinity if they do not restrict it. */
export function allowedFromMs({ breakerOpenUntilMs, holdUntilMs }: LaneState): number {
  return Math.max(breakerOpenUntilMs ?? -Infinity, holdUntilMs ?? -Infinity);
}
