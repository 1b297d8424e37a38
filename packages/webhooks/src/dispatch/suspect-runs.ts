import type { Attempts } from './attempts.ts';
import type { LaneScheduler } from './lane-scheduler.ts';
import type { Lane, QueuedDelivery } from './lane.ts';
import type { ResultRecorder } from './result-recorder.ts';
import type { Slots } from './slots.ts';
import type { SteadyClock } from './steady-clock.ts';

/** A delivery that was claimed this often without a result is sent in an isolated run. */
const claimsToIsolate = 3;

const groupMax = 16;
const groupShare = 1 / 16;

/** After an isolated run, other deliveries run for four times as long as it blocked them. */
const othersShare = 4;

export interface SuspectRunsOptions {
  clock: SteadyClock;
  slots: Slots<Lane>;
  scheduler: LaneScheduler;
  recorder: ResultRecorder;
  attempts: Attempts;
  /** Other deliveries may start again. */
  onUnblocked: () => void;
}

/**
 * Sends deliveries that were claimed two to four times without a result: one of them may have ended its workers.
 *
 * - Two claims: in a group of at most 16, and at most a sixteenth of the slots, while other deliveries are sent. After a crash,
 *   each of them has three claims.
 * - Three and four claims: in an isolated run, while nothing else is in flight. A delivery with five claims has ended its process
 *   twice alone, and fails: one crash alone can have another cause.
 *
 * | isolated run | other deliveries | ends                                                             |
 * | ------------ | ---------------- | ---------------------------------------------------------------- |
 * | none         | start            | when a delivery with three claims is added                       |
 * | waiting      | are blocked      | when all of them have ended and are recorded, or nothing waits   |
 * | running      | are blocked      | when its result is recorded or found locked, or it is not sent   |
 * | cooling down | start            | after four times as long as others were blocked                  |
 *
 * A run that does not start also cools down: otherwise a delivery whose row is locked would block others again and again.
 */
export class SuspectRuns {
  readonly #options: SuspectRunsOptions;
  readonly #groupMax: number;
  /** Deliveries with two claims that are being prepared, in flight or unsettled. */
  readonly #group = new Set<QueuedDelivery>();
  /** Deliveries with two claims that wait for a place in the group. */
  readonly #waiting: QueuedDelivery[] = [];
  /** Deliveries that wait for an isolated run. */
  readonly #isolated: QueuedDelivery[] = [];
  /** The delivery in its isolated run: in flight or unsettled. */
  #running: QueuedDelivery | null = null;
  #blockedSinceMs: number | null = null;
  #cancelCooldown: (() => void) | null = null;
  #isStopped = false;

  constructor(options: SuspectRunsOptions) {
    this.#options = options;
    this.#groupMax = Math.min(groupMax, Math.max(1, Math.floor(options.slots.total * groupShare)));
  }

  /** Takes over a delivery that was removed from the queue of its lane. */
  add(queued: QueuedDelivery): void {
    const waiting = queued.delivery.claims.length < claimsToIsolate ? this.#waiting : this.#isolated;
    waiting.push(queued);
  }

  /** Starts what can start. Returns false while an isolated run blocks other deliveries. */
  start(nowMs: number): boolean {
    while (this.#blocksOthers(nowMs)) if (!this.#startIsolated(nowMs)) return false;
    if (this.#group.size > 0 || this.#waiting.length > 0) this.#startGroup(nowMs);
    return true;
  }

  /** Call it when the result of a delivery is recorded or found locked, or the delivery is set aside or not sent. */
  end(queued: QueuedDelivery): void {
    this.#group.delete(queued);
    if (this.#running !== queued) return;
    this.#running = null;
    this.#coolDown(this.#options.clock.nowMs());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelCooldown?.();
  }

  /** Other deliveries are no longer blocked, for four times as long as they were. */
  #coolDown(nowMs: number): void {
    const { clock, onUnblocked } = this.#options;
    const blockedMs = nowMs - (this.#blockedSinceMs ?? nowMs);
    this.#blockedSinceMs = null;
    if (this.#isStopped) return;
    this.#cancelCooldown = clock.setTimer(() => {
      this.#cancelCooldown = null;
      onUnblocked();
    }, othersShare * blockedMs);
  }

  #blocksOthers(nowMs: number): boolean {
    if (this.#running !== null) return true;
    if (this.#cancelCooldown !== null) return false;
    while (this.#isolated[0] !== undefined && !isKnown(this.#isolated[0])) this.#isolated.shift();
    if (this.#isolated.length > 0) this.#blockedSinceMs ??= nowMs;
    else if (this.#blockedSinceMs !== null) this.#coolDown(nowMs);
    return this.#isolated.length > 0;
  }

  /** Starts an isolated run once nothing else is in flight or unsettled. Returns false if it started or must wait. */
  #startIsolated(nowMs: number): boolean {
    const { slots, recorder, attempts } = this.#options;
    const [queued] = this.#isolated;
    if (queued === undefined || this.#running !== null || slots.inFlight > 0 || recorder.unlockedSize > 0) return false;
    const step = this.#prepare(queued, nowMs);
    if (step === 'wait') return false;
    this.#isolated.shift();
    if (step === 'drop') {
      this.#coolDown(nowMs);
      return true;
    }
    this.#running = queued;
    attempts.start(queued);
    return false;
  }

  #startGroup(nowMs: number): void {
    for (const queued of this.#group) if (!queued.isClaimed) this.#startInGroup(queued, nowMs);
    while (this.#group.size < this.#groupMax) {
      const queued = this.#waiting.shift();
      if (queued === undefined) return;
      this.#group.add(queued);
      this.#startInGroup(queued, nowMs);
    }
  }

  #startInGroup(queued: QueuedDelivery, nowMs: number): void {
    const { slots, scheduler, attempts } = this.#options;
    if (slots.inFlight >= slots.total) return;
    const step = this.#prepare(queued, nowMs);
    if (step === 'drop') this.#group.delete(queued);
    if (step !== 'start') return;
    attempts.start(queued);
    scheduler.schedule(queued.lane, nowMs);
  }

  /** Requests what the delivery needs before it can start. `drop`: its lane does not have it, or has queued it again. */
  #prepare(queued: QueuedDelivery, nowMs: number): 'start' | 'wait' | 'drop' {
    const { lane } = queued;
    if (!isKnown(queued)) return 'drop';
    if (lane.allowedFromMs > nowMs) {
      this.#options.scheduler.putBack(queued, lane.allowedFromMs, nowMs);
      return 'drop';
    }
    if (lane.receiver.isBreakerOpen && lane.inFlight > 0) return 'wait';
    if (lane.target.isFresh(nowMs)) return 'start';
    this.#options.scheduler.readTarget(lane);
    return 'wait';
  }
}

/** Whether its lane still has it: it was neither closed nor reloaded. */
function isKnown(queued: QueuedDelivery): boolean {
  return queued.lane.known.get(queued.delivery.deliveryId) === queued;
}
