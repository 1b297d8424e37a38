import { LaneCall } from './lane-calls.ts';

/**
 * How often a lane is read from its start. Other refills start at the first delivery that is in storage only: while an
 * old snapshot exists, as of a running dump, a read from the start visits the index entries of everything delivered
 * since.
 */
const wholeReadMs = 30_000;

/** Storage computes the due time of a retry before the dispatcher does, so it can be earlier. */
const marginMs = 10_000;

/** What a lane knows about its deliveries that are in storage only. Times are by the steady clock. */
export class LaneSource {
  readonly call = new LaneCall();
  #dueAtMs = Infinity;
  /** The due time of the first delivery that the refill in progress may have missed. */
  #missedDueAtMs = Infinity;
  #readWholeAtMs = -Infinity;

  /** A lower bound for the due time of the first delivery that is in storage only. Infinity if there is none. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** A refill is requested or in flight. The queue is empty, and nothing is added to it. */
  get isRefilling(): boolean {
    return this.call.isPending;
  }

  /** The due time from which a refill reads. -Infinity reads from the start of the lane. */
  fromDueAtMs(nowMs: number): number {
    return nowMs - this.#readWholeAtMs < wholeReadMs ? this.#dueAtMs - marginMs : -Infinity;
  }

  /** Marks what is in memory as incomplete. */
  reset(): void {
    this.call.cancel();
    this.#dueAtMs = -Infinity;
    this.#readWholeAtMs = -Infinity;
  }

  /** A delivery is in storage only. */
  noteLeft(dueAtMs: number): void {
    this.#dueAtMs = Math.min(this.#dueAtMs, dueAtMs);
    if (this.isRefilling) this.#missedDueAtMs = Math.min(this.#missedDueAtMs, dueAtMs);
  }

  /** A delivery in storage is due earlier than this process knows, so the next refill reads from the start. */
  forgetDueTime(): void {
    this.#readWholeAtMs = -Infinity;
  }

  /** Returns what `LaneCall.end` needs, or null if a refill is in progress. */
  startRefill(): number | null {
    const started = this.call.start();
    if (started !== null) this.#missedDueAtMs = Infinity;
    return started;
  }

  noteWholeRead(nowMs: number): void {
    this.#readWholeAtMs = nowMs;
  }

  /** @param nextDueAtMs when the first delivery that the refill did not return is due. Infinity if there is none. */
  endRefill(nextDueAtMs: number): void {
    this.#dueAtMs = Math.min(nextDueAtMs, this.#missedDueAtMs);
  }
}
