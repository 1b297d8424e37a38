import { describe, expect, test } from 'vitest';
import { afterFailure, afterSuccess, failuresToOpen } from './breaker.ts';
import { cleanLaneState, holdLane, type LaneState } from './lane-state.ts';

const startMs = 1_000_000;

function failTimes(count: number, state: LaneState = cleanLaneState, nowMs = startMs): LaneState {
  let failed = state;
  for (let failure = 0; failure < count; failure += 1) failed = afterFailure(failed, nowMs);
  return failed;
}

describe('afterFailure', () => {
  test('opens the breaker for 5 s after ten consecutive failures', () => {
    expect(failTimes(9).breakerOpenUntilMs).toBeNull();
    expect(failTimes(10)).toEqual({
      consecutiveFailures: 10,
      breakerOpenUntilMs: startMs + 5_000,
      breakerProbes: 0,
      holdUntilMs: null,
      failingSinceMs: startMs,
      lastFailureMs: startMs,
      lastFailedDeliveryId: null,
    });
  });

  test('doubles the time after each failed probe, up to 5 min', () => {
    const opensForSeconds: number[] = [];
    let state = failTimes(failuresToOpen);
    for (let probe = 0; probe < 9; probe += 1) {
      const probeMs = state.breakerOpenUntilMs ?? 0;
      state = afterFailure(state, probeMs);
      opensForSeconds.push(((state.breakerOpenUntilMs ?? 0) - probeMs) / 1_000);
    }
    expect(opensForSeconds).toEqual([10, 20, 40, 80, 160, 300, 300, 300, 300]);
  });

  test('does not extend an open breaker for requests that started before it opened', () => {
    const opened = failTimes(10);
    const later = failTimes(15, opened, startMs + 4_999);
    expect(later).toEqual({ ...opened, consecutiveFailures: 25, lastFailureMs: startMs + 4_999 });
  });
});

describe('the time of the first failure', () => {
  const hourMs = 3_600_000;

  test('is kept while failures follow each other within 15 h, the longest delay of a retry', () => {
    let state = cleanLaneState;
    for (let hours = 0; hours <= 90; hours += 15) state = afterFailure(state, startMs + hours * hourMs);
    expect(state).toMatchObject({ failingSinceMs: startMs, lastFailureMs: startMs + 90 * hourMs });
  });

  test('is that of the next failure after more than 15 h without one', () => {
    const failureMs = startMs + 15 * hourMs + 1;
    expect(afterFailure(failTimes(20), failureMs)).toMatchObject({
      consecutiveFailures: 21,
      failingSinceMs: failureMs,
      lastFailureMs: failureMs,
    });
  });

  test('is that of the next failure if the time of the last one is unknown', () => {
    const stored = { ...failTimes(1), lastFailureMs: null };
    expect(afterFailure(stored, startMs + hourMs).failingSinceMs).toBe(startMs + hourMs);
  });
});

describe('afterSuccess', () => {
  test('returns the same state if there was no failure, so that nothing is written', () => {
    const stored = { ...cleanLaneState };
    expect(afterSuccess(stored, startMs)).toBe(stored);
  });

  test('keeps a Retry-After that has not passed', () => {
    const held = holdLane(failTimes(1), startMs + 60_000);
    expect(afterSuccess(held, startMs)).toEqual({ ...cleanLaneState, holdUntilMs: startMs + 60_000 });
    expect(afterSuccess(held, startMs + 60_000)).toBe(cleanLaneState);
  });
});
