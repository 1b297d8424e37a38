import type { QueuePosition } from './queue-entry.ts';

/** The transactions that a statement saw in progress, as in pg_current_snapshot(). */
export interface ReadSnapshot {
  /** All lower transaction ids had ended. */
  readonly xmin: bigint;
  /** This transaction id and all higher ones had not been assigned. */
  readonly xmax: bigint;
}

/** The watermark may rise to `tip` once all transactions below `xmax` have ended. */
interface WatermarkStep {
  tip: QueuePosition;
  xmax: bigint;
  reads: number;
  /** When the tip was first seen. */
  seenAtMs: number;
}

const stepsMax = 64;

/**
 * An entry whose transaction takes longer than both of these is found by the next read from the watermark. Later events of its
 * account can be numbered before it. Reads follow each other within milliseconds, and a commit can take longer than eight of them.
 */
const readsBeforeSkipping = 8;
const skippedAfterMs = 250;

/**
 * The position up to which no further entry of a shard can appear. A transaction draws the position of an entry before it
 * commits, so a lower position can become visible after a higher one. The watermark passes a position once every
 * transaction that was in progress when the position was first seen has ended. Drawing a position requires a transaction
 * id, so those include every transaction that can add a lower one.
 *
 * A long transaction holds the watermark back. Most reads then start from a position whose neighbours were seen often, and
 * some time ago, and only some from the watermark. Otherwise each read would visit the rows that were deleted in the meantime.
 */
export class ShardWatermark {
  #position: QueuePosition = 0;
  #skipsTo: QueuePosition = 0;
  #tip: QueuePosition = 0;
  /** In the order of `tip` and of `xmax`. */
  #steps: WatermarkStep[] = [];
  /**
   * Consecutive reads that began at the watermark. `xmin` is from the first of them. Null if the last read did not continue
   * one.
   */
  #pass: { readonly xmin: bigint; readonly covered: QueuePosition } | null = null;

  /** Every entry up to here was seen. */
  get position(): QueuePosition {
    return this.#position;
  }

  /** The highest position that was seen. */
  get tip(): QueuePosition {
    return this.#tip;
  }

  /** The position after which the next read starts. */
  readAfter(fromWatermark: boolean): QueuePosition {
    return fromWatermark ? this.#position : Math.max(this.#position, this.#skipsTo);
  }

  /**
   * Records that a read returned the rows after `after` up to `last`, or all further rows if `last` is null. `highest` is
   * the highest position among them, or 0.
   *
   * @param nowMs the time of the process, which never goes back
   */
  wasRead(
    after: QueuePosition,
    last: QueuePosition | null,
    highest: QueuePosition,
    snapshot: ReadSnapshot,
    nowMs: number,
  ): void {
    if (after <= this.#position) this.#pass = { xmin: snapshot.xmin, covered: after };
    else if (after !== this.#pass?.covered) this.#pass = null;
    if (this.#pass !== null) {
      this.#raise(last ?? Infinity, this.#pass.xmin);
      this.#pass = last === null ? null : { xmin: this.#pass.xmin, covered: last };
    }
    for (const step of this.#steps) {
      step.reads += 1;
      const isSkipped = step.reads > readsBeforeSkipping && nowMs - step.seenAtMs > skippedAfterMs;
      if (isSkipped) this.#skipsTo = Math.max(this.#skipsTo, step.tip);
    }
    if (highest <= this.#tip) return;
    this.#tip = highest;
    this.#steps.push({ tip: highest, xmax: snapshot.xmax, reads: 0, seenAtMs: nowMs });
    if (this.#steps.length > stepsMax) this.#mergeSteps();
  }

  /**
   * Raises the watermark: everything up to `covered` was read by snapshots for which every transaction below `xmin` had
   * ended.
   */
  #raise(covered: QueuePosition, xmin: bigint): void {
    let passed = 0;
    for (const { tip, xmax } of this.#steps) {
      if (xmax > xmin || tip > covered) break;
      this.#position = tip;
      passed += 1;
    }
    if (passed > 0) this.#steps.splice(0, passed);
  }

  /** Keeps every second step, including the last. Only delays the watermark. */
  #mergeSteps(): void {
    const isOdd = this.#steps.length % 2;
    this.#steps = this.#steps.filter((_, index) => index % 2 !== isOdd);
  }
}
