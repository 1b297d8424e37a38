import { Heap, type HeapNode } from '../kernel/heap.ts';

/** The part of an account that `Slots` uses. */
export class SlotAccount {
  /** Slots that its lanes hold beyond the first of each lane. */
  extraSlots = 0;
}

/** Where a lane waits for a slot. */
type Place = 'none' | 'first' | 'further' | 'slow' | 'new' | 'blocked';

/** The part of a lane that `Slots` uses. Written by `Slots` only, except `isQuick`. */
export abstract class SlotLane implements HeapNode {
  abstract readonly account: SlotAccount;
  /** Whether its receiver responds quickly. Changes only when a request ends, or while the lane waits for no slot. */
  abstract readonly isQuick: boolean;

  heapKey = 0;
  heapOrder = 0;
  heapIndex = -1;
  place: Place = 'none';
  inFlight = 0;
  /** The slot-time that the lane has used, in milliseconds, on a scale that all lanes share. */
  slotTimeMs = 0;
  /**
   * A moving average of the durations of its requests. A request is charged this at its start, and the difference at its
   * end.
   */
  expectedMs = unknownMs;
  hasEnded = false;
}

/** The expected duration of a request of a lane without history. */
const unknownMs = 100;

const accountShare = 1 / 16;
const reservedShare = 1 / 4;
const slowExtraShare = 1 / 16;
const newSampleWeight = 1 / 4;

/** While lanes without history wait, every fourth request is one of them. */
const startsPerNewLane = 3;

/**
 * Assigns slots to lanes. A slot is one request in flight. The lane with the least slot-time is next, if enough slots
 * are free:
 *
 * | place     | lane                                 | may start while                        |
 * | --------- | ------------------------------------ | -------------------------------------- |
 * | `first`   | quick, no request in flight          | a slot is free                         |
 * | `new`     | as `first`, no request has ended     | more than 1/4 of the slots are free    |
 * | `further` | quick, with a request in flight      | more than 1/4 of the slots are free    |
 * | `slow`    | slow                                 | more than 5/16 of the slots are free   |
 * | `blocked` | needs more than its account may hold | the account has released an extra slot |
 *
 * So receivers that hang hold at most three quarters of the slots, including thousands of new ones, and each quick lane with
 * history can still start its first request. A quick lane with a request in flight needs more than a quarter free, because that request may hang too.
 * Slow lanes leave another sixteenth free, so that a quick lane whose second event arrives during its first request
 * does not wait for a slow lane.
 *
 * An account holds at most a sixteenth of the slots beyond the first of each of its lanes.
 *
 * Lanes are ordered by the slot-time that they will have when their next request has ended. Those without history have their own
 * order and start every fourth request while other lanes wait: a lane with history does not wait for a
 * thousand new ones, and a new one does not wait for a thousand backlogs. A lane that was idle continues at the slot-time
 * of the lanes that wait, so that idle time earns no slots.
 */
export class Slots<Lane extends SlotLane> {
  readonly total: number;
  readonly #reserved: number;
  readonly #reservedFromSlow: number;
  readonly #accountExtraMax: number;
  /** Quick lanes without a request in flight. */
  readonly #first = new Heap<Lane>();
  /** Quick lanes with a request in flight. */
  readonly #further = new Heap<Lane>();
  readonly #slow = new Heap<Lane>();
  /** Quick lanes without history, and without a request in flight. */
  readonly #new = new Heap<Lane>();
  /** How many lanes with history have started a request since the last one without. */
  #startsSinceNew = 0;
  /** Lanes that wait until their account may hold another extra slot. */
  readonly #blocked = new Map<SlotAccount, Set<Lane>>();
  /** The slot-time at which lanes that were idle continue. Never decreases. */
  #systemSlotTimeMs = 0;
  #free: number;

  constructor(total: number) {
    this.total = total;
    this.#free = total;
    this.#reserved = total * reservedShare;
    this.#reservedFromSlow = total * (reservedShare + slowExtraShare);
    this.#accountExtraMax = Math.max(1, Math.floor(total * accountShare));
  }

  get inFlight(): number {
    return this.total - this.#free;
  }

  /** How many requests are in flight or belong to slow lanes that wait for a slot. At most all slots. */
  get inFlightOrSlow(): number {
    return Math.min(this.total, this.inFlight + this.#slow.size);
  }

  /** Lets the lane wait for one slot. No effect if it waits already. */
  request(lane: Lane): void {
    if (lane.place !== 'none') return;
    lane.slotTimeMs = Math.max(lane.slotTimeMs, this.#systemSlotTimeMs);
    this.#wait(lane);
  }

  /** Ends the wait of the lane for a slot. */
  withdraw(lane: Lane): void {
    if (lane.place === 'none') return;
    this.#leave(lane);
    this.#unblock(lane.account);
  }

  /** Whether a slow lane may start now. */
  get hasSlow(): boolean {
    return this.#slow.first !== undefined && this.#free > this.#reservedFromSlow;
  }

  /**
   * Returns the lane that may start the next request. Returns the same lane until it acquires the slot or withdraws.
   *
   * @param mayBeSlow false skips slow lanes
   */
  next(mayBeSlow = true): Lane | null {
    if (this.#free === 0) return null;
    for (;;) {
      const lane = this.#candidate(mayBeSlow);
      if (lane === undefined) return null;
      if (!this.#needsExtra(lane)) return lane;
      this.#leave(lane);
      this.#wait(lane);
    }
  }

  /**
   * Assigns a slot to a lane that `next` returned.
   *
   * @returns the slot-time that the lane is charged in advance, to be passed to `release`
   */
  acquire(lane: Lane): number {
    this.#startsSinceNew = lane.place === 'new' ? 0 : this.#startsSinceNew + 1;
    this.#leave(lane);
    // A lane in the last quarter can be ahead of lanes that wait for more free slots.
    const waitingMs = Math.min(this.#further.first?.slotTimeMs ?? Infinity, this.#slow.first?.slotTimeMs ?? Infinity);
    this.#systemSlotTimeMs = Math.max(this.#systemSlotTimeMs, Math.min(lane.slotTimeMs, waitingMs));
    this.#free -= 1;
    if (lane.inFlight > 0) lane.account.extraSlots += 1;
    lane.inFlight += 1;
    const chargedMs = lane.expectedMs;
    lane.slotTimeMs += chargedMs;
    this.#unblock(lane.account);
    return chargedMs;
  }

  /**
   * Releases the slot of a request that has ended. Call it after `isQuick` is updated.
   *
   * @param heldMs the duration of the request
   * @param chargedMs the return value of `acquire`
   */
  release(lane: Lane, heldMs: number, chargedMs: number): void {
    const weight = lane.hasEnded ? newSampleWeight : 1;
    lane.expectedMs = Math.max(1, lane.expectedMs + (heldMs - lane.expectedMs) * weight);
    lane.hasEnded = true;
    this.#return(lane, chargedMs - heldMs);
  }

  /** Takes back a slot without a request. `chargedMs` is the return value of `acquire`. */
  cancel(lane: Lane, chargedMs: number): void {
    this.#return(lane, chargedMs);
  }

  /** @param unusedMs the slot-time that the lane was charged and has not used */
  #return(lane: Lane, unusedMs: number): void {
    this.#free += 1;
    lane.inFlight -= 1;
    if (lane.inFlight > 0) lane.account.extraSlots -= 1;
    lane.slotTimeMs -= unusedMs;
    if (lane.place !== 'none') {
      this.#leave(lane);
      this.#wait(lane);
    }
    this.#unblock(lane.account);
  }

  #candidate(mayBeSlow: boolean): Lane | undefined {
    const newLane = this.#free > this.#reserved ? this.#new.first : undefined;
    if (newLane !== undefined && this.#startsSinceNew >= startsPerNewLane) return newLane;
    return this.#candidateWithHistory(mayBeSlow) ?? newLane;
  }

  #candidateWithHistory(mayBeSlow: boolean): Lane | undefined {
    const first = this.#first.first;
    if (this.#free <= this.#reserved) return first;
    const candidate = firstOf(first, this.#further.first);
    return mayBeSlow && this.hasSlow ? firstOf(candidate, this.#slow.first) : candidate;
  }

  #wait(lane: Lane): void {
    if (this.#needsExtra(lane)) {
      lane.place = 'blocked';
      const blocked = this.#blocked.get(lane.account);
      if (blocked === undefined) this.#blocked.set(lane.account, new Set([lane]));
      else blocked.add(lane);
    } else if (!lane.isQuick) {
      lane.place = 'slow';
      this.#slow.add(lane, lane.slotTimeMs + lane.expectedMs);
    } else if (lane.inFlight === 0 && !lane.hasEnded) {
      lane.place = 'new';
      this.#new.add(lane, lane.slotTimeMs + lane.expectedMs);
    } else if (lane.inFlight === 0) {
      lane.place = 'first';
      this.#first.add(lane, lane.slotTimeMs + lane.expectedMs);
    } else {
      lane.place = 'further';
      this.#further.add(lane, lane.slotTimeMs + lane.expectedMs);
    }
  }

  #leave(lane: Lane): void {
    if (lane.place === 'first') this.#first.remove(lane);
    else if (lane.place === 'further') this.#further.remove(lane);
    else if (lane.place === 'slow') this.#slow.remove(lane);
    else if (lane.place === 'new') this.#new.remove(lane);
    else if (lane.place === 'blocked') {
      const blocked = this.#blocked.get(lane.account);
      if (blocked?.delete(lane) && blocked.size === 0) this.#blocked.delete(lane.account);
    }
    lane.place = 'none';
  }

  /** Whether the lane needs an extra slot that its account may not hold. */
  #needsExtra(lane: Lane): boolean {
    return lane.inFlight > 0 && lane.account.extraSlots >= this.#accountExtraMax;
  }

  /** Lets the blocked lane with the least slot-time wait for a slot, if its account may hold another. */
  #unblock(account: SlotAccount): void {
    if (this.#blocked.size === 0 || account.extraSlots >= this.#accountExtraMax) return;
    let least: Lane | undefined;
    for (const lane of this.#blocked.get(account) ?? []) {
      if (least === undefined || lane.slotTimeMs < least.slotTimeMs) least = lane;
    }
    if (least === undefined) return;
    this.#leave(least);
    this.#wait(least);
  }
}

function firstOf<Node extends HeapNode>(a: Node | undefined, b: Node | undefined): Node | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.heapKey < a.heapKey ? b : a;
}
