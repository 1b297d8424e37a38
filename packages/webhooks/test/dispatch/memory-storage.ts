import { StoreUnavailableError } from '@deedwire/store';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import type { LaneTarget } from '../../src/dispatch/lane-target.ts';
import {
  hastenAgainMs,
  isHastened as isOutdated,
  soonMs,
  type LaneMarks,
  type LastAttempt,
} from '../../src/dispatch/lane-walk.ts';
import type {
  ClaimedDelivery,
  DispatchStorage,
  Refill,
  RefillOptions,
  Settlement,
  SettleResult,
  SettleResults,
  Walk,
  WalkOptions,
} from '../../src/dispatch/storage.ts';
import type { DeliveryId, SubscriptionId } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import type { VirtualClock } from './virtual-clock.ts';

interface StoredLane {
  /** Null while the subscription is paused. */
  target: LaneTarget | null;
  paused: LaneTarget | null;
  /** In the order of due time and sequence, if sorted. */
  rows: PendingDelivery[];
  isSorted: boolean;
}

/** The tables as dispatch sees them, with switches for faults. */
export class MemoryStorage {
  readonly #clock: VirtualClock;
  readonly #lanes = new Map<SubscriptionId, StoredLane>();
  readonly #rows = new Map<DeliveryId, PendingDelivery>();
  /** Those that a worker of this release recorded, of pending deliveries. */
  readonly lastAttempts = new Map<DeliveryId, LastAttempt>();

  callMs = 2;
  /** How many rows a statement of a walk reads. */
  walkedRows = 4;
  isUnavailable = false;
  /** Nothing is due by the clock of the database. */
  isClockBehind = false;
  /** Nothing is read or recorded for other owners. */
  owner = 0;
  /** A settle call that contains such a settlement is refused. */
  refuses: (settlement: Settlement) => boolean = () => false;

  /** A settle call waits as long as this is true for its batch, as for a subscription that another transaction has locked. */
  waits: (batch: readonly Settlement[]) => boolean = () => false;

  /** Another transaction holds a lock on the row, so the result is not recorded. */
  isLocked: (settlement: Settlement) => boolean = () => false;

  /** Another worker has recorded another result of such a settlement, which is recorded nevertheless. */
  isLate: (settlement: Settlement) => boolean = () => false;

  /** Another transaction holds a lock on the row, so its claims are not counted. */
  skips: (id: DeliveryId) => boolean = () => false;

  readonly delivered = new Set<DeliveryId>();
  readonly failed = new Set<DeliveryId>();
  readonly settleBatches: number[] = [];
  settlesInFlightMax = 0;
  #settlesInFlight = 0;
  /** The largest number of states that one call contained for one lane. */
  laneStateWritesMax = 0;
  readonly countedClaims: DeliveryId[][] = [];
  readonly refills: { lane: SubscriptionId; options: RefillOptions }[] = [];
  targetReads = 0;
  /** When results hastened subscriptions, in elapsed milliseconds. */
  readonly hastenedAtMs: number[] = [];
  hasteningResults = 0;
  /** Called for each new mark. In production, a change in the queue of the account announces it to the worker. */
  onMarked: (lane: LaneTarget) => void = () => {};
  readonly walks: { lane: SubscriptionId; options: WalkOptions }[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  setTarget(target: LaneTarget): void {
    this.#lane(target.subscriptionId).target = target;
  }

  targetOf(id: SubscriptionId): LaneTarget | null {
    return this.#lane(id).target;
  }

  pause(id: SubscriptionId): void {
    const lane = this.#lane(id);
    lane.paused = lane.target ?? lane.paused;
    lane.target = null;
  }

  /** No effect if the subscription is not paused. */
  resume(id: SubscriptionId): void {
    const lane = this.#lane(id);
    lane.target ??= lane.paused;
    if (lane.target !== null) this.#hasten(id, lane.target);
  }

  /** As the owner or an operator does, unless the subscription is paused. */
  mark(id: SubscriptionId, marks: Partial<LaneMarks>): void {
    const lane = this.#lane(id);
    if (lane.target !== null) lane.target = { ...lane.target, marks: { ...lane.target.marks, ...marks } };
  }

  isMarked(id: SubscriptionId): boolean {
    return Object.values(this.#lane(id).target?.marks ?? {}).some((markedAtMs) => markedAtMs > -Infinity);
  }

  insert(deliveries: readonly PendingDelivery[]): void {
    for (const delivery of deliveries) this.#put(delivery);
  }

  postpone(id: DeliveryId, delayMs: number): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    const nowMs = this.#clock.nowMs();
    this.#put({ ...row, dueAtMs: row.attempts === 0 ? nowMs + delayMs : Math.max(row.dueAtMs, nowMs + delayMs) });
    const last = this.lastAttempts.get(id);
    if (last !== undefined) this.lastAttempts.set(id, { ...last, atMs: nowMs + delayMs });
  }

  pending(): PendingDelivery[] {
    return [...this.#rows.values()];
  }

  find(id: DeliveryId): PendingDelivery | undefined {
    return this.#rows.get(id);
  }

  /** The storage as one worker uses it. */
  ownedBy(owner: number): DispatchStorage {
    return {
      refill: (id, options) => this.#refill(id, options, owner),
      walk: (id, options) => this.#walk(id, options, owner),
      targets: (ids) => this.#targets(ids, owner),
      settle: (batch) => this.#settle(batch, owner),
      countClaims: (keys) => this.#countClaims(keys, owner),
    };
  }

  async #refill(id: SubscriptionId, options: RefillOptions, owner: number): Promise<Refill> {
    this.refills.push({ lane: id, options });
    await this.#call();
    this.#checkOwner(owner);
    const lane = this.#lane(id);
    this.#sort(lane);
    const excluded = new Set(options.exclude);
    const deliveries: PendingDelivery[] = [];
    let bodyBytes = 0;
    for (const row of lane.rows) {
      if (this.#rows.get(row.deliveryId) !== row || excluded.has(row.deliveryId)) continue;
      if (row.dueAtMs < options.fromDueAtMs) continue;
      bodyBytes += row.body.length;
      const isFull = deliveries.length > 0 && bodyBytes > options.bodyBytesMax;
      if (this.isClockBehind || isFull || deliveries.length === options.limit)
        return this.#respond({ deliveries, nextDueAtMs: row.dueAtMs });
      deliveries.push(row);
    }
    return this.#respond({ deliveries, nextDueAtMs: null });
  }

  async #walk(id: SubscriptionId, options: WalkOptions, owner: number): Promise<Walk> {
    this.walks.push({ lane: id, options });
    await this.#call();
    this.#checkOwner(owner);
    const rows = [...this.#rows.values()]
      .filter(({ subscriptionId, deliveryId }) => subscriptionId === id && BigInt(deliveryId) > BigInt(options.after))
      .toSorted((a, b) => Number(a.deliveryId) - Number(b.deliveryId));
    const walked = rows.slice(0, this.walkedRows);
    const due = walked.filter(({ deliveryId, dueAtMs }) => {
      const last = this.lastAttempts.get(deliveryId);
      const isWaiting = dueAtMs > this.#clock.nowMs() + soonMs && !options.exclude.includes(deliveryId);
      return isWaiting && last !== undefined && isOutdated(last, options.marks);
    });
    const deliveries = due.slice(0, options.limit);
    const last = deliveries.length < due.length ? deliveries.at(-1) : walked.at(-1);
    const hasMore = deliveries.length < due.length || walked.length < rows.length;
    const hasFailedSince = walked.some(({ deliveryId }) => {
      const { isTransient, atMs } = this.lastAttempts.get(deliveryId) ?? {};
      return isTransient && atMs !== undefined && atMs >= options.marks.hastenedAtMs;
    });
    return this.#respond({ deliveries, hasFailedSince, readTo: hasMore ? (last?.deliveryId ?? options.after) : null });
  }

  async #targets(ids: readonly SubscriptionId[], owner: number): Promise<ReadonlyMap<SubscriptionId, LaneTarget>> {
    this.targetReads += 1;
    await this.#call();
    this.#checkOwner(owner);
    const targets = new Map<SubscriptionId, LaneTarget>();
    for (const id of ids) {
      const { target } = this.#lane(id);
      if (target !== null) targets.set(id, target);
    }
    return this.#respond(targets);
  }

  async #settle(batch: readonly Settlement[], owner: number): Promise<SettleResults> {
    this.settleBatches.push(batch.length);
    this.#settlesInFlight += 1;
    this.settlesInFlightMax = Math.max(this.settlesInFlightMax, this.#settlesInFlight);
    try {
      return await this.#settleBatch([...batch], owner);
    } finally {
      this.#settlesInFlight -= 1;
    }
  }

  async #settleBatch(given: readonly Settlement[], owner: number): Promise<SettleResults> {
    await this.#call();
    while (this.waits(given)) await this.#clock.wait(100);
    const states = given.filter(({ laneState }) => laneState !== null).map(({ delivery }) => delivery.subscriptionId);
    for (const id of states) {
      this.laneStateWritesMax = Math.max(this.laneStateWritesMax, states.filter((other) => other === id).length);
    }
    if (given.some((settlement) => this.refuses(settlement))) throw new RangeError('Refused by a constraint.');
    const results = new Map<Settlement, SettleResult>();
    for (const settlement of given) {
      results.set(settlement, this.#resultOf(settlement, owner));
    }
    return this.#respond(results);
  }

  async #countClaims(keys: readonly ClaimedDelivery[], owner: number): Promise<ReadonlySet<DeliveryId>> {
    await this.#call();
    this.#checkOwner(owner);
    this.countedClaims.push(keys.map(({ deliveryId }) => deliveryId));
    const counted = new Set<DeliveryId>();
    for (const { deliveryId, claims } of keys) {
      const row = this.#rows.get(deliveryId);
      const others = row?.claims.slice(0, claims.length) ?? [];
      if (row === undefined || this.skips(deliveryId)) continue;
      if (others.length < claims.length || row.claims.length > claims.length + 1) continue;
      this.#put({ ...row, claims: [...others, new Date(this.#clock.nowMs())] });
      counted.add(deliveryId);
    }
    return this.#respond(counted);
  }

  #resultOf(settlement: Settlement, owner: number): SettleResult {
    if (this.isLocked(settlement)) return 'locked';
    if (this.isLate(settlement)) return 'late';
    return owner === this.owner ? this.#settleOne(settlement) : 'stale';
  }

  #settleOne(settlement: Settlement): SettleResult {
    const { delivery, attempt, next, isHastened, lastAttempt, hastens, laneState, pause, urlNumber } = settlement;
    const row = this.#rows.get(delivery.deliveryId);
    const lane = this.#lane(delivery.subscriptionId);
    if (row === undefined || row.attempts !== delivery.attempts) return 'stale';
    if (lane.target?.urlNumber === urlNumber) {
      if (laneState !== null) lane.target = { ...lane.target, state: laneState };
      if (pause !== null) lane.paused = { ...lane.target, state: cleanLaneState };
      if (hastens) this.hasteningResults += 1;
      if (hastens) this.#hasten(delivery.subscriptionId, lane.target);
      if (pause !== null) lane.target = null;
    }
    if (next.kind === 'retry') {
      const dueAtMs = Math.max(this.#clock.nowMs() + next.delayMs, isHastened ? row.dueAtMs : -Infinity);
      const attempts = row.attempts + (attempt === null ? 0 : 1);
      const priorAttempts = row.priorAttempts + (isHastened && attempt !== null ? 1 : 0);
      this.#put({ ...row, attempts, priorAttempts, claims: [], dueAtMs });
      if (lastAttempt !== null) this.lastAttempts.set(row.deliveryId, lastAttempt);
    } else {
      this.#rows.delete(delivery.deliveryId);
      (next.kind === 'delivered' ? this.delivered : this.failed).add(delivery.deliveryId);
    }
    return 'settled';
  }

  /** As the receiver works again. At most once an hour. */
  #hasten(id: SubscriptionId, target: LaneTarget): void {
    const { hastenedAtMs } = target.marks;
    const nowMs = this.#clock.nowMs();
    if (hastenedAtMs >= nowMs - hastenAgainMs && hastenedAtMs <= nowMs) return;
    this.hastenedAtMs.push(this.#clock.elapsedMs);
    this.mark(id, { hastenedAtMs: nowMs });
    this.#clock.setTimer(() => this.onMarked(target), this.callMs);
  }

  /** A worker that was declared dead reads and counts nothing. */
  #checkOwner(owner: number): void {
    if (owner !== this.owner) throw new StoreUnavailableError(new Error('declared dead'));
  }

  /** Half of the time passes before the statement, half of it before the response. */
  async #call(): Promise<void> {
    await this.#clock.wait(this.callMs / 2);
    if (this.isUnavailable) throw new StoreUnavailableError(new Error('connection refused'));
  }

  /** When storage becomes unavailable before the response, the outcome of the statement is unknown to the caller. */
  async #respond<Result>(result: Result): Promise<Result> {
    await this.#call();
    return result;
  }

  #lane(id: SubscriptionId): StoredLane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = { target: null, paused: null, rows: [], isSorted: true };
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  #put(row: PendingDelivery): void {
    const lane = this.#lane(row.subscriptionId);
    const last = lane.rows.at(-1);
    lane.isSorted &&= last === undefined || compareRows(last, row) < 0;
    lane.rows.push(row);
    this.#rows.set(row.deliveryId, row);
  }

  #sort(lane: StoredLane): void {
    lane.rows = lane.rows.filter((row) => this.#rows.get(row.deliveryId) === row);
    if (!lane.isSorted) lane.rows.sort(compareRows);
    lane.isSorted = true;
  }
}

function compareRows(a: PendingDelivery, b: PendingDelivery): number {
  return a.dueAtMs - b.dueAtMs || Number(a.sequence) - Number(b.sequence);
}
