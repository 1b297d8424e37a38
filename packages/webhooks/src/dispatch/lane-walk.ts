import type { DeliveryId } from '../kernel/ids.ts';
import { compareIds } from '../kernel/sql.ts';
import { retriedWithinMs } from './retry-schedule.ts';

/**
 * The times of a subscription before which attempts count as outdated: their deliveries need not wait for their retry. By the clock
 * of the database. -Infinity: never.
 */
export interface LaneMarks {
  /** The receiver worked again, or the owner resumed the subscription. */
  readonly hastenedAtMs: number;
  /** The owner or an operator asked for everything that waits. */
  readonly sendPendingAtMs: number;
}

export const noMarks: LaneMarks = Object.freeze({ hastenedAtMs: -Infinity, sendPendingAtMs: -Infinity });

/** What is kept of a failed attempt with its pending delivery. */
export interface LastAttempt {
  /** When it began, or when its `Retry-After` ends. By the clock of the database. */
  readonly atMs: number;
  /** It failed in a way that ends when the receiver works again. */
  readonly isTransient: boolean;
}

/** Whether a delivery need not wait for its retry. `walk-pending-deliveries` has the same rule. */
export function isHastened({ atMs, isTransient }: LastAttempt, { hastenedAtMs, sendPendingAtMs }: LaneMarks): boolean {
  return atMs < sendPendingAtMs || (isTransient && atMs < hastenedAtMs);
}

/** Results set at most one mark in this time. Each mark adds at most one request of a delivery. */
export const hastenAgainMs = 60 * 60 * 1_000;

/**
 * What is due so soon is left to its schedule. Until then, the former owner of the shard may still record its result: workers of
 * earlier releases postpone what is in flight by 7 s, and leave its last attempt as it was.
 */
export const soonMs = 10_000;

/** What failed before an older mark is due anyway. */
export const markMaxAgeMs = retriedWithinMs;

/** Fewer than open the breaker, which would hold up new deliveries. */
const failuresMax = 8;

const start = '0';

/**
 * Walks once through the pending deliveries of a lane after each mark, in the order of their ids, and finds those that the marks
 * make due. Those that memory drops again are read again. After 8 failures of hastened deliveries without a success of the lane in
 * between, it waits for one.
 */
export class LaneWalk {
  #marks = noMarks;
  /** The receiver worked again or deliveries failed, and no mark was read since. */
  needsMark = false;
  #failures = 0;
  /** Where the next read starts. Null: the walk has ended. */
  #after: string | null = null;
  /** Where the walk went back to during the read in progress. */
  #backTo: string | null = null;

  get marks(): LaneMarks {
    return this.#marks;
  }

  get after(): string | null {
    return this.isHeld ? null : this.#after;
  }

  get isHeld(): boolean {
    return this.#failures >= failuresMax;
  }

  /** An attempt that begins now is not outdated by these marks, whatever the clocks of both processes say. */
  get latestMarkMs(): number {
    return Math.max(this.#marks.hastenedAtMs, this.#marks.sendPendingAtMs);
  }

  /** Walks again after the marks are read: another worker may own the lane meanwhile. */
  reset(): void {
    this.#marks = noMarks;
    this.needsMark = false;
    this.#failures = 0;
    this.#after = null;
    this.#backTo = null;
  }

  /** @param nowMs by the clock of the database */
  use(marks: LaneMarks, nowMs: number): void {
    const { hastenedAtMs, sendPendingAtMs } = this.#marks;
    if (marks.hastenedAtMs !== hastenedAtMs) this.needsMark = false;
    else if (marks.sendPendingAtMs === sendPendingAtMs) return;
    this.#marks = marks;
    this.#failures = 0;
    if (this.latestMarkMs > nowMs - markMaxAgeMs) this.#goBack(start);
  }

  noteAttempt(succeeded: boolean, wasHastened: boolean): void {
    if (succeeded) this.#failures = 0;
    else if (wasHastened) this.#failures += 1;
  }

  startRead(): void {
    this.#backTo = null;
  }

  endRead(readTo: string | null, hasFailedSince: boolean): void {
    this.#after = readTo;
    this.needsMark ||= hasFailedSince;
    if (this.#backTo !== null) this.#goBack(this.#backTo);
  }

  /** A delivery that the marks make due is in storage only. */
  noteLeft(id: DeliveryId): void {
    this.#goBack(String(BigInt(id) - 1n));
  }

  #goBack(after: string): void {
    if (this.#after === null || compareIds(after, this.#after) < 0) this.#after = after;
    if (this.#backTo === null || compareIds(after, this.#backTo) < 0) this.#backTo = after;
  }
}
