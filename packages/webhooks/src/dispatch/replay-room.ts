import type { Lane } from './lane.ts';

/** How many replayed deliveries of a lane may wait, be in flight or be unsettled. A crash repeats no more of them. */
const replayedMax = 8;

/**
 * What was just queued is due now by the clock of the database, which can be ahead of what the worker knows of it. Without this, a
 * second batch would follow at once. Retries have longer delays.
 */
const clockToleranceMs = 1_000;

/** The share of the window that a replay leaves to other deliveries. */
const freeShare = 1 / 4;

/**
 * How many replayed deliveries a lane can take without delaying others: none while its receiver fails or asks for no request, or
 * while deliveries are due that are in storage only. Retries that are not due yet do not count.
 */
export function replayRoom(lane: Lane, nowMs: number): number {
  const { receiver, source } = lane;
  if (lane.phase !== 'open' || receiver.isBreakerOpen || lane.allowedFromMs > nowMs) return 0;
  if (source.isRefilling || source.dueAtMs <= nowMs) return 0;
  let replayed = 0;
  let waiting = 0;
  for (const { isClaimed, isSetAside, isHastened, dueAtMs, delivery } of lane.known.values()) {
    const isWaiting = !isClaimed && (isHastened || dueAtMs <= nowMs + clockToleranceMs);
    if (isWaiting) waiting += 1;
    if (delivery.replayId !== null && (isWaiting || (isClaimed && !isSetAside))) replayed += 1;
  }
  // With a window of one request, a replay has it while nothing else does. A lane that recovers sends one request at a time, and
  // recovers by a result: of the replay, if nothing else is due.
  const share = lane.isRecovering ? 1 : Math.max(1, Math.floor(receiver.window * (1 - freeShare)));
  return Math.max(0, Math.min(replayedMax - replayed, share - lane.inFlight - waiting));
}
