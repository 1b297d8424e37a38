import type { AttemptResult } from '@deedwire/webhook-sender';
import { afterFailure, afterSuccess, hasFailedForTooLong, isBreakerOpen } from './breaker.ts';
import { type AttemptClassification, classifyAttempt } from './classify-attempt.ts';
import type { OnDispatchEvent } from './events.ts';
import { cleanLaneState, holdLane, type LaneState } from './lane-state.ts';
import type { SendableTarget } from './lane-target.ts';
import type { Lane, QueuedDelivery } from './lane.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { PauseReason } from './storage.ts';
import type { UnsettledResult } from './unsettled-result.ts';

export interface ConcludeContext {
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly onEvent: OnDispatchEvent;
}

/** Classifies an attempt, updates its lane, and returns the result to record. */
export function concludeAttempt(
  { clock, random, onEvent }: ConcludeContext,
  queued: QueuedDelivery,
  target: SendableTarget,
  result: AttemptResult,
): UnsettledResult {
  const { delivery, lane } = queued;
  const nowMs = clock.nowMs();
  const number = delivery.attempts + 1;
  const classification = classifyAttempt(result, number, nowMs - clock.offsetMs, random);
  const { next } = classification;
  onEvent({ kind: 'attempt', delivery, number, result, next });

  // The result of a request to an earlier URL says nothing about the receiver of the current one.
  const isOfOtherUrl = lane.target !== null && lane.target.urlNumber !== target.urlNumber;
  const pause = isOfOtherUrl ? null : updateLane(lane, classification, result.durationMs, nowMs, onEvent);
  const { startedAt, durationMs, responseStatus, error } = result;
  return {
    queued,
    delivery,
    attempt: { number, startedAt, durationMs, responseStatus, error },
    next,
    laneState: null,
    isLocked: false,
    pause,
    urlNumber: target.urlNumber,
  };
}

/** Updates the window and the state of a lane. Returns why its subscription must be paused, or null. */
function updateLane(
  lane: Lane,
  classification: AttemptClassification,
  durationMs: number,
  nowMs: number,
  onEvent: OnDispatchEvent,
): PauseReason | null {
  const previous = lane.state;
  lane.learn(durationMs, classification.next.kind === 'delivered', nowMs);
  lane.state = nextLaneState(previous, classification, nowMs);
  if (classification.holdMs !== null) {
    lane.window = 1;
    onEvent({ kind: 'lane-held', lane: lane.id, holdMs: classification.holdMs });
  }
  if (isBreakerOpen(lane.state) !== isBreakerOpen(previous)) {
    onEvent({ kind: isBreakerOpen(previous) ? 'breaker-closed' : 'breaker-opened', lane: lane.id });
  }
  const pause = pauseReason(classification, lane, nowMs);
  // A resumed subscription starts with a clean state.
  if (pause !== null) lane.state = cleanLaneState;
  return pause;
}

function nextLaneState(state: LaneState, { next, holdMs }: AttemptClassification, nowMs: number): LaneState {
  if (next.kind === 'delivered') return afterSuccess(state, nowMs);
  const failed = afterFailure(state, nowMs);
  return holdMs === null ? failed : holdLane(failed, nowMs + holdMs);
}

function pauseReason({ isGone }: AttemptClassification, { state }: Lane, nowMs: number): PauseReason | null {
  if (isGone) return 'GONE';
  return hasFailedForTooLong(state, nowMs) ? 'FAILING' : null;
}
