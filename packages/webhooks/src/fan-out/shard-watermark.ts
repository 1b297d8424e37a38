import type { QueuePosition } from './queue-entry.ts';

/** The transactions that a statement saw in progress, as in pg_current_snapshot(). */
export interface ReadSnapshot {
  /** All lower transaction ids had ended. */
  readonly xmin: bigint;
  /** No transaction id from here on had been assigned. */
  readonly xmax: bigint;
}

/** The mark may rise to `tip` once all transactions below `xmax` have ended. */
interface WatermarkStep {
  tip: QueuePosition;
  xmax: bigint;
  reads: number;
}

const stepsMax = 64;

/** Transactions that take longer than this many reads of their shard are found by the next read from the mark. */
const readsBeforeSkipping = 8;

/**
 * Up to which position a shard has been read for good. A position is drawn before its transaction commits, so that a lower
 * one can become visible after a higher one. The mark passes a position only when every transaction that was in progress when
 * the position was first seen has ended: one that draws a position has a transaction id before, because it has written.
 *
 * A long transaction holds the mark. Reads then start from a position whose neighbours were seen often, and only some
 * start from the mark, so that the rows that were deleted in the meantime are not read each time.
 */
export class ShardWatermark {
  #position: QueuePosition = 0;
  #skipsTo: QueuePosition = 0;
  #tip: QueuePosition = 0;
  /** In the order of `tip` and of `xmax`. */
  #steps: WatermarkStep[] = [];
  /** Consecutive reads that began at the mark. `xmin` is that of the first. Null if the last read was not among them. */
  #pass: { readonly xmin: bigint; readonly covered: QueuePosition } | null = null;

  /** Everything up to here was seen. */
  get position(): QueuePosition {
    return this.#position;
  }

  /** The highest position that was seen. */
  get tip(): QueuePosition {
    return this.#tip;
  }

  /** After which position the next read starts. */
  readAfter(fromWatermark: boolean): QueuePosition {
    return fromWatermark ? this.#position : Math.max(this.#position, this.#skipsTo);
  }

  /**
   * A read returned the rows after `after` up to `last`, or all that there are if `last` is null. `highest` is the highest
   * position among them, or 0.
   */
  wasRead(after: QueuePosition, last: QueuePosition | null, highest: QueuePosition, snapshot: ReadSnapshot): void {
    if (after <= this.#position) this.#pass = { xmin: snapshot.xmin, covered: after };
    else if (after !== this.#pass?.covered) this.#pass = null;
    if (this.#pass !== null) {
      this.#raise(last ?? Infinity, this.#pass.xmin);
      this.#pass = last === null ? null : { xmin: this.#pass.xmin, covered: last };
    }
    for (const step of this.#steps) {
      step.reads += 1;
      if (step.reads > readsBeforeSkipping) this.#skipsTo = Math.max(this.#skipsTo, step.tip);
    }
    if (highest <= this.#tip) return;
    this.#tip = highest;
    this.#steps.push({ tip: highest, xmax: snapshot.xmax, reads: 0 });
    if (this.#steps.length > stepsMax) this.#mergeSteps();
  }

  /** All up to `covered` was read by snapshots for which every transaction below `xmin` had ended. */
  #raise(covered: QueuePosition, xmin: bigint): void {
    let passed = 0;
    for (const { tip, xmax } of this.#steps) {
      if (xmax > xmin || tip > covered) break;
      this.#position = tip;
      passed += 1;
    }
    if (passed > 0) this.#steps.splice(0, passed);
  }

  /** Keeps every second step, the last among them. That only delays the mark. */
  #mergeSteps(): void {
    const isOdd = this.#steps.length % 2;
    this.#steps = this.#steps.filter((_, index) => index % 2 !== isOdd);
  }
}
