import type { DeliveryId } from '../kernel/ids.ts';
import { compareIds } from '../kernel/sql.ts';

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
  /** The delivery was not due, so the attempt does not count for its schedule. */
  readonly wasHastened: boolean;
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

/** What failed before an older mark is due anyway: the longest delay of a retry is 14.4 h. */
const markMaxAgeMs = 15 * 60 * 60 * 1_000;

const start = '0';

/**
 * Walks once through the pending deliveries of a lane after each mark, in the order of their ids, and finds those that the marks
 * make due. Those that memory drops again are read again.
 */
export class LaneWalk {
  #marks = noMarks;
  /** The receiver worked again, and no mark was read since. */
  needsMark = false;
  /** Where the next read starts. Null: the walk has ended. */
  #after: string | null = null;
  /** Where the walk went back to during the read in progress. */
  #backTo: string | null = null;

  get marks(): LaneMarks {
    return this.#marks;
  }

  get after(): string | null {
    return this.#after;
  }

  /** An attempt that begins now is not outdated by these marks, whatever the clocks of both processes say. */
  get latestMarkMs(): number {
    return Math.max(this.#marks.hastenedAtMs, this.#marks.sendPendingAtMs);
  }

  /** Walks again after the marks are read: deliveries that it found may be in storage only. */
  reset(): void {
    this.#marks = noMarks;
    this.#after = null;
    this.#backTo = null;
  }

  /** @param nowMs by the clock of the database */
  use(marks: LaneMarks, nowMs: number): void {
    const { hastenedAtMs, sendPendingAtMs } = this.#marks;
    const isLater = marks.hastenedAtMs > hastenedAtMs || marks.sendPendingAtMs > sendPendingAtMs;
    this.#marks = marks;
    if (marks.hastenedAtMs > hastenedAtMs) this.needsMark = false;
    if (isLater && this.latestMarkMs > nowMs - markMaxAgeMs) this.#goBack(start);
  }

  startRead(): void {
    this.#backTo = null;
  }

  /** @param readTo the last delivery that was read. Null if there are no others. */
  endRead(readTo: string | null): void {
    this.#after = readTo;
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
