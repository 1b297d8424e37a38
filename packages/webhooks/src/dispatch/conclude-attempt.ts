import type { AttemptResult } from '@deedwire/webhook-sender';
import { type AttemptClassification, classifyAttempt } from './classify-attempt.ts';
import type { OnDispatchEvent } from './events.ts';
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
  const pause = lane.target.isOtherUrl(target)
    ? null
    : updateReceiver(lane, classification, result.durationMs, nowMs, onEvent);
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

/** Returns why the subscription must be paused, or null. */
function updateReceiver(
  { id, receiver }: Lane,
  { next, holdMs, isGone }: AttemptClassification,
  durationMs: number,
  nowMs: number,
  onEvent: OnDispatchEvent,
): PauseReason | null {
  const wasBreakerOpen = receiver.isBreakerOpen;
  receiver.attemptEnded(durationMs, next.kind === 'delivered', holdMs, nowMs);
  if (holdMs !== null) onEvent({ kind: 'lane-held', lane: id, holdMs });
  if (receiver.isBreakerOpen !== wasBreakerOpen) {
    onEvent({ kind: wasBreakerOpen ? 'breaker-closed' : 'breaker-opened', lane: id });
  }
  if (!isGone && !receiver.hasFailedForTooLong(nowMs)) return null;
  receiver.pausing();
  return isGone ? 'GONE' : 'FAILING';
}
