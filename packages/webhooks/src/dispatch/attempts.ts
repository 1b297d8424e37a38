import type { AttemptResult, ProxyProblem } from '@deedwire/webhook-sender';
import type { DispatchEvent, Reports } from '../events.ts';
import { failpoint } from '../kernel/failpoint.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import { ClaimCounter } from './claim-counter.ts';
import { type AttemptClassification, classifyAttempt, type NextStep } from './classify-attempt.ts';
import { isSuspect } from './lane-need.ts';
import type { LaneScheduler } from './lane-scheduler.ts';
import type { LaneState } from './lane-state.ts';
import type { SendableTarget } from './lane-target.ts';
import { hastenAgainMs, soonMs } from './lane-walk.ts';
import type { Lane, QueuedDelivery } from './lane.ts';
import type { Slots } from './slots.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage, PauseReason, Settlement } from './storage.ts';

/**
 * Makes one attempt. The dispatcher passes the same target object until the target of the lane changes, so that an
 * implementation can cache by identity. The promise must settle within the deadline of an attempt.
 *
 * @param attempt the number of the attempt, from 1
 */
export type Send = (target: SendableTarget, delivery: PendingDelivery, attempt: number) => Promise<AttemptResult>;

/** A settlement and the delivery in memory that it belongs to. */
export interface UnsettledResult extends Settlement {
  readonly queued: QueuedDelivery;
  /** Set by each call. */
  laneState: LaneState | null;
  /** Another transaction has locked its row. Later results of the lane overtake this one. */
  isLocked: boolean;
}

/** The result of a delivery for which nothing was sent. */
export function resultWithoutAttempt(queued: QueuedDelivery, next: NextStep): UnsettledResult {
  return {
    queued,
    delivery: queued.delivery,
    attempt: null,
    next,
    isHastened: queued.isHastened,
    lastAttempt: null,
    hastens: false,
    laneState: null,
    isLocked: false,
    pause: null,
    urlNumber: null,
  };
}

/** How long a lane waits after our proxy could not be reached or refused, up to half as much again. */
const withoutProxyMs = 10_000;

/** How often a failing proxy is reported. */
const proxyReportMs = 10_000;

export interface AttemptsOptions extends Reports<DispatchEvent> {
  send: Send;
  storage: Pick<DispatchStorage, 'countClaims'>;
  clock: SteadyClock;
  random: () => number;
  slots: Slots<Lane>;
  scheduler: LaneScheduler;
  onResult: (result: UnsettledResult) => void;
  /** The delivery has left its slot without a request. */
  onNotSent: (queued: QueuedDelivery) => void;
  /** Called once after several deliveries have started or left their slots. */
  afterStarts: () => void;
}

/**
 * Sends deliveries. Each holds a slot for the duration of its request.
 *
 * After the death of a worker, the claim of a delivery is counted while it holds its slot, so that the end of a process that was
 * sending others does not count for it.
 */
export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #claims: ClaimCounter;
  #proxyReportedAtMs = -Infinity;
  /** Deliveries that were postponed since the last report. */
  #postponed = 0;

  constructor(options: AttemptsOptions) {
    this.#options = options;
    const { storage, clock, scheduler, onEvent, afterStarts } = options;
    this.#claims = new ClaimCounter({
      storage,
      clock,
      scheduler,
      onEvent,
      onCounted: (queued) => (this.#maySend(queued) ? this.#send(queued) : this.#cancel(queued)),
      onNotCounted: (queued) => this.#cancel(queued),
      afterResults: afterStarts,
    });
  }

  /** Sends the delivery to the target of its lane, which must have one. */
  start(queued: QueuedDelivery): void {
    const { lane, delivery, isCounted } = queued;
    queued.isClaimed = true;
    queued.chargedMs = this.#options.slots.acquire(lane);
    queued.timeoutMs = lane.target.current?.timeoutMs ?? 0;
    if (!isCounted && (lane.isRecovering || isSuspect(delivery))) this.#claims.count(queued);
    else this.#send(queued);
  }

  /** Deliveries whose claims are being counted leave their slots. */
  stop(): void {
    this.#claims.stop();
  }

  /** Whether the lane is as it was before the claim was counted. */
  #maySend({ lane, isOutdated }: QueuedDelivery): boolean {
    const nowMs = this.#options.clock.nowMs();
    return lane.phase === 'open' && !isOutdated && lane.target.isFresh(nowMs) && lane.allowedFromMs <= nowMs;
  }

  #cancel(queued: QueuedDelivery): void {
    const { slots, scheduler, clock, onNotSent } = this.#options;
    slots.cancel(queued.lane, queued.chargedMs);
    queued.isClaimed = false;
    scheduler.putBack(queued, queued.dueAtMs, clock.nowMs());
    onNotSent(queued);
  }

  #send(queued: QueuedDelivery): void {
    const target = queued.lane.target.current;
    if (target === null) return this.#cancel(queued);
    if (queued.isCounted) queued.lane.startCounted(queued);
    queued.timeoutMs = target.timeoutMs;
    void this.#attempt(queued, target);
  }

  async #attempt(queued: QueuedDelivery, target: SendableTarget): Promise<void> {
    const { clock } = this.#options;
    const { delivery, lane, chargedMs } = queued;
    const nowMs = clock.nowMs();
    // Its time may have come while it waited.
    queued.isHastened &&= queued.dueAtMs > nowMs;
    const startedMs = Math.max(nowMs - clock.offsetMs, lane.walk.latestMarkMs);
    let result: AttemptResult;
    let unsettled: UnsettledResult;
    try {
      const sending = this.#options.send(target, delivery, delivery.attempts + 1);
      failpoint('dispatch-after-send');
      result = await sending;
      failpoint('dispatch-after-response');
      const problem = result.proxyProblem;
      unsettled =
        problem === undefined || problem.mayBeReceiver
          ? this.#conclude(queued, target, result, startedMs)
          : this.#postpone(queued, problem);
    } catch (error) {
      this.#options.onEvent({ kind: 'attempt-broken', alarm: true, delivery, error });
      result = this.#brokenResult();
      unsettled = this.#conclude(queued, target, result, startedMs);
    }
    this.#options.slots.release(lane, result.durationMs, chargedMs);
    this.#options.onResult(unsettled);
  }

  /**
   * Nothing was asked of the receiver, so there is no attempt. The lane waits, because its other deliveries would need the proxy, too.
   */
  #postpone(queued: QueuedDelivery, { found }: ProxyProblem): UnsettledResult {
    const { clock, random, onEvent } = this.#options;
    const { lane } = queued;
    const nowMs = clock.nowMs();
    const blockedMs = withoutProxyMs * (1 + random() / 2);
    lane.blockUntil(nowMs + blockedMs);
    this.#postponed += 1;
    if (nowMs - this.#proxyReportedAtMs >= proxyReportMs) {
      onEvent({ kind: 'proxy-failed', alarm: true, found, postponed: this.#postponed });
      this.#proxyReportedAtMs = nowMs;
      this.#postponed = 0;
    }
    return resultWithoutAttempt(queued, { kind: 'retry', delayMs: blockedMs });
  }

  /**
   * Classifies an attempt, updates its lane, and returns the result to record.
   *
   * @param startedMs by the clock of the database
   */
  #conclude(queued: QueuedDelivery, target: SendableTarget, result: AttemptResult, startedMs: number): UnsettledResult {
    const { clock, random, onEvent } = this.#options;
    const { delivery, lane } = queued;
    const nowMs = clock.nowMs();
    const number = delivery.attempts + 1;
    const databaseMs = nowMs - clock.offsetMs;
    const attempt = number - delivery.priorAttempts;
    const classification = classifyAttempt(result, attempt, databaseMs, random, queued.isHastened);
    const { next, retryAfterMs, isTransient, isRetryAfterIgnored } = classification;
    const { urlNumber, isHeaderDropped } = target;
    onEvent({ kind: 'attempt', delivery, urlNumber, isHeaderDropped, number, result, next });
    const { startedAt, durationMs, responseStatus, error, cause, interceptor } = result;
    const detail = cause ?? interceptor ?? (isRetryAfterIgnored ? 'RETRY_AFTER_IGNORED' : null);
    // The result of a request to an earlier URL says nothing about the receiver of the current one.
    const isOfOtherUrl = lane.target.isOtherUrl(target);
    const hastens = next.kind === 'delivered' && !isOfOtherUrl && noteSuccess(queued, nowMs, databaseMs);
    if (!isOfOtherUrl) lane.walk.noteAttempt(next.kind === 'delivered', queued.isHastened);
    const pause = isOfOtherUrl ? null : this.#updateReceiver(queued, classification, result, nowMs);
    return {
      queued,
      delivery,
      attempt: { number, startedAt, durationMs, responseStatus, error, detail },
      next,
      isHastened: queued.isHastened,
      lastAttempt:
        next.kind === 'retry'
          ? { atMs: retryAfterMs > 0 ? Math.max(startedMs, databaseMs + retryAfterMs) : startedMs, isTransient }
          : null,
      hastens,
      laneState: null,
      isLocked: false,
      pause,
      urlNumber: target.urlNumber,
    };
  }

  /** Returns why the subscription must be paused, or null. */
  #updateReceiver(
    { lane: { id, receiver }, delivery }: QueuedDelivery,
    { next, holdMs, isGone }: AttemptClassification,
    { durationMs, proxyProblem }: AttemptResult,
    nowMs: number,
  ): PauseReason | null {
    const { onEvent } = this.#options;
    const wasBreakerOpen = receiver.isBreakerOpen;
    // Otherwise the proxy can be the cause, which must not pause the subscription.
    const isProven = proxyProblem === undefined;
    receiver.recordAttempt(durationMs, next.kind === 'delivered', holdMs, nowMs, isProven, delivery.deliveryId);
    if (holdMs !== null) onEvent({ kind: 'lane-held', lane: id, holdMs });
    if (receiver.isBreakerOpen !== wasBreakerOpen) {
      onEvent({ kind: wasBreakerOpen ? 'breaker-closed' : 'breaker-opened', lane: id });
    }
    if (!isGone && !(isProven && receiver.hasFailedForTooLong(nowMs))) return null;
    receiver.reset();
    return isGone ? 'GONE' : 'FAILING';
  }

  /** Counts an attempt that could not be made as a failed one, so that only this delivery is affected. */
  #brokenResult(): AttemptResult {
    const { clock } = this.#options;
    const startedAt = new Date(clock.nowMs() - clock.offsetMs);
    return {
      startedAt,
      durationMs: 0,
      responseStatus: null,
      error: 'PROTOCOL_ERROR',
      cause: 'REQUEST_NOT_SENT',
      retryAfter: null,
    };
  }
}

/**
 * Returns whether a success sets a mark: it, or an earlier one without a mark since, follows failures of the delivery or of its
 * receiver, and others may wait because of them. Within an hour after a mark, the success is remembered.
 */
function noteSuccess({ lane, delivery }: QueuedDelivery, nowMs: number, databaseMs: number): boolean {
  const { walk, receiver, queue, source } = lane;
  const followsFailure = delivery.attempts > delivery.priorAttempts || receiver.state.consecutiveFailures > 0;
  const othersWait = (queue.last?.dueAtMs ?? -Infinity) > nowMs + soonMs || source.dueAtMs !== Infinity;
  walk.needsMark = othersWait && (walk.needsMark || followsFailure);
  return walk.needsMark && databaseMs - walk.marks.hastenedAtMs >= hastenAgainMs;
}
