/**
 * What is remembered about the receiver of a lane. It is stored per subscription, so that a worker that takes over knows it.
 * Times are milliseconds.
 */
export interface LaneState {
  /** Failed attempts since the last success, of any delivery. */
  readonly consecutiveFailures: number;
  /** Until when no request is sent because the breaker is open; after that, single probes. Null while it is closed. */
  readonly breakerOpenUntilMs: number | null;
  /** Probes that failed since the breaker opened. */
  readonly breakerProbes: number;
  /** Until when the receiver asked not to be called (`Retry-After`). Null if it did not. Can lie in the past. */
  readonly holdUntilMs: number | null;
  /** When the first failure since the last success happened. Null if none did. */
  readonly failingSinceMs: number | null;
}

/** The state of a receiver that has not failed. */
export const cleanLaneState: LaneState = Object.freeze({
  consecutiveFailures: 0,
  breakerOpenUntilMs: null,
  breakerProbes: 0,
  holdUntilMs: null,
  failingSinceMs: null,
});

/** Converts the times of a state to another clock, which reads `offsetMs` more. */
export function shiftLaneState(state: LaneState, offsetMs: number): LaneState {
  if (offsetMs === 0) return state;
  const shift = (timeMs: number | null): number | null => (timeMs === null ? null : timeMs + offsetMs);
  return {
    ...state,
    breakerOpenUntilMs: shift(state.breakerOpenUntilMs),
    holdUntilMs: shift(state.holdUntilMs),
    failingSinceMs: shift(state.failingSinceMs),
  };
}

/** Records that the receiver asked not to be called before `untilMs`. The later of two such times applies. */
export function holdLane(state: LaneState, untilMs: number): LaneState {
  return { ...state, holdUntilMs: Math.max(state.holdUntilMs ?? 0, untilMs) };
}

/** When the breaker and `Retry-After` allow the next request. -Infinity if they do not restrict it. */
export function allowedFromMs({ breakerOpenUntilMs, holdUntilMs }: LaneState): number {
  return Math.max(breakerOpenUntilMs ?? -Infinity, holdUntilMs ?? -Infinity);
}
