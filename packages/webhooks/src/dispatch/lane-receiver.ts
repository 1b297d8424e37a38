import type { DeliveryId } from '../kernel/ids.ts';
import { afterFailure, afterSuccess, hasFailedForTooLong, isBreakerOpen } from './breaker.ts';
import { allowedFromMs, cleanLaneState, holdLane, isSameLaneState, type LaneState } from './lane-state.ts';

/** The maximum number of concurrent requests to one receiver. */
const windowMax = 16;

const quickMs = 500;
const goodResponsesToBeQuick = 20;

/** What a lane knows about its receiver. Times are by the steady clock. */
export class LaneReceiver {
  #state: LaneState = cleanLaneState;
  /** The state that storage has, as far as known: the same object as `#state` if it is equal. */
  #storedState: LaneState = cleanLaneState;
  #window = 1;
  /** By the clock of the database. */
  #askedAtMs = -Infinity;
  #mayProbe = false;
  #goodResponses = goodResponsesToBeQuick;

  get state(): LaneState {
    return this.#state;
  }

  get isStored(): boolean {
    return this.#state === this.#storedState;
  }

  get isBreakerOpen(): boolean {
    return isBreakerOpen(this.#state);
  }

  /** When the breaker and `Retry-After` allow the next request. */
  get allowedFromMs(): number {
    return allowedFromMs(this.#mayProbe ? { ...this.#state, breakerOpenUntilMs: null } : this.#state);
  }

  /** The maximum number of requests in flight. */
  get window(): number {
    return this.isBreakerOpen ? 1 : this.#window;
  }

  /**
   * At least 20 requests succeeded since the last one that took more than 500 ms, and since the lane was opened with failures in
   * its stored state. Without history, it is quick.
   */
  get isQuick(): boolean {
    return this.#goodResponses >= goodResponsesToBeQuick;
  }

  /**
   * @param holdMs how long the receiver asked to receive no requests. Null if it did not.
   * @param isProven false if the proxy can be the cause of a failure
   * @param deliveryId of the attempt
   */
  recordAttempt(
    durationMs: number,
    succeeded: boolean,
    holdMs: number | null,
    nowMs: number,
    isProven = true,
    deliveryId: DeliveryId | null = null,
  ): void {
    if (durationMs > quickMs) this.#goodResponses = 0;
    else if (succeeded && !this.isQuick) this.#goodResponses += 1;
    if (succeeded) {
      const isHeldBack = this.isBreakerOpen || this.allowedFromMs > nowMs;
      this.#window = isHeldBack ? 1 : Math.min(this.#window * 2, windowMax);
      this.#state = afterSuccess(this.#state, nowMs);
      return;
    }
    this.#mayProbe = false;
    const failed = afterFailure(this.#state, nowMs, isProven, deliveryId);
    this.#window = holdMs === null ? Math.max(1, this.#window >> 1) : 1;
    this.#state = holdMs === null ? failed : holdLane(failed, nowMs + holdMs);
  }

  /**
   * The owner asked for requests: until the next failure, an open breaker lets single probes through. A request of the owner that is
   * known already changes nothing: a failure that the proxy may have caused does not count as the last one.
   *
   * @param askedAtMs by the clock of the database
   * @param offsetMs steady time minus the time of the database
   */
  allowProbe(askedAtMs: number, nowMs: number, offsetMs: number): void {
    if (askedAtMs === this.#askedAtMs) return;
    this.#askedAtMs = askedAtMs;
    const { lastFailureMs } = this.#state;
    // A failure in the future was stored before the clock was set back.
    this.#mayProbe = lastFailureMs !== null && (lastFailureMs < askedAtMs + offsetMs || lastFailureMs > nowMs);
  }

  hasFailedForTooLong(nowMs: number): boolean {
    return hasFailedForTooLong(this.#state, nowMs);
  }

  /** A result pauses the subscription. It resumes with a clean state. */
  reset(): void {
    this.#state = cleanLaneState;
  }

  /** Storage has this state: it was written or read. */
  noteStored(stored: LaneState): void {
    this.#storedState = isSameLaneState(stored, this.#state) ? this.#state : stored;
  }

  /**
   * The lane continues with the stored state. With failures it is slow: after a restart, thousands of receivers that hang would
   * be quick until their first request has timed out, and take every slot.
   */
  adoptState(stored: LaneState): void {
    this.#state = stored;
    this.#storedState = stored;
    if (stored.consecutiveFailures > 0) this.#goodResponses = 0;
  }

  /** The callback URL has changed. */
  changeUrl(): void {
    this.#window = 1;
    this.#goodResponses = goodResponsesToBeQuick;
  }
}
