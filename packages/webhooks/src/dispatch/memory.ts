import { LaneQueue } from './lane-queue.ts';
import type { Account, Lane, QueuedDelivery } from './lane.ts';
import type { RefillOptions } from './storage.ts';

/**
 * Limits for the deliveries that wait in memory. The last delivery that is added, and the first delivery of a refill,
 * can exceed the sizes. Deliveries in flight are not included: the slots bound them.
 */
export interface MemoryLimits {
  readonly queueDeliveries: number;
  readonly queueBodyBytes: number;
  readonly deliveries: number;
  readonly bodyBytes: number;
}

export const defaultMemoryLimits: MemoryLimits = {
  queueDeliveries: 256,
  queueBodyBytes: 1_000_000,
  deliveries: 50_000,
  bodyBytes: 256_000_000,
};

/** How much a refill may return. */
export type Room = Pick<RefillOptions, 'limit' | 'bodyBytesMax'>;

const crowdedShare = 1 / 2;
const commonShare = 3 / 4;
const smallQueueShare = 1 / 16;
const enoughShare = 1 / 2;

/**
 * The deliveries that wait in the queues of all lanes.
 *
 * A queue always holds the first deliveries of its lane. A delivery that does not fit stays in storage, and so does
 * every delivery that is due after it. So a lane needs a refill only when its queue is empty. It can hold as many hastened
 * deliveries besides, which are dropped first.
 *
 * Lanes that wait for slots must not use up the memory. The maximum length of a queue depends on the share of the
 * memory in use (with the default limits):
 *
 * | memory in use | quick lane | slow lane |
 * | ------------- | ---------- | --------- |
 * | up to 1/2     | 256        | 16        |
 * | below 3/4     | 16         | 16        |
 * | below 1       | 1          | 0         |
 */
export class Memory {
  readonly #limits: MemoryLimits;
  /** Deliveries in all queues, plus the room that refills in flight have reserved. */
  deliveries = 0;
  bodyBytes = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** More than half is used: lanes that cannot start soon should drop their queues. */
  get isCrowded(): boolean {
    return this.#usedShare > crowdedShare;
  }

  /** Whether a lane with an empty queue can add a delivery. */
  hasRoom(lane: Lane): boolean {
    return this.#queueMax(lane) > 0;
  }

  /** Whether the account has enough in memory: half of what its queues can hold, or a sixteenth while memory is crowded. */
  hasEnough({ queued, lanes }: Account): boolean {
    const share = this.isCrowded ? smallQueueShare : enoughShare;
    return queued >= lanes * this.#limits.queueDeliveries * share;
  }

  /** Adds a delivery to the queue of its lane, or leaves it in storage. */
  add(queued: QueuedDelivery): void {
    const { lane } = queued;
    if (lane.source.isRefilling || queued.dueAtMs >= lane.source.dueAtMs || !this.#makeRoom(queued)) {
      this.leaveInStorage(lane, queued.dueAtMs);
    } else {
      this.#put(queued);
    }
  }

  /** Adds a delivery that a refill returned. Its room was reserved. */
  addRefilled(queued: QueuedDelivery): void {
    if (queued.isHastened || queued.dueAtMs <= queued.lane.source.dueAtMs) this.#put(queued);
  }

  /** Removes the next delivery of a lane from its queue. It stays known to its lane. */
  removeNext(lane: Lane, nowMs: number): QueuedDelivery | undefined {
    const queued = lane.dueQueue(nowMs)?.removeFirst();
    if (queued !== undefined) this.#subtract(queued);
    return queued;
  }

  /** Notes that a delivery of the lane is in storage only. Drops the queued deliveries that are due later. */
  leaveInStorage(lane: Lane, dueAtMs: number): void {
    const { source, queue } = lane;
    source.noteLeft(dueAtMs);
    for (let { last } = queue; last !== undefined && last.dueAtMs > source.dueAtMs; { last } = queue) {
      this.#dropLast(queue);
    }
  }

  /** Drops both queues. Their deliveries stay in storage. */
  forget(lane: Lane): void {
    this.forgetQueue(lane.queue);
    this.forgetQueue(lane.hastened);
  }

  forgetQueue(queue: LaneQueue<QueuedDelivery> | null): void {
    while (queue?.first !== undefined) this.#dropLast(queue);
  }

  /** Reserves room for a refill. Call it only if the lane has room. */
  reserve(lane: Lane): Room {
    const { deliveries, bodyBytes } = this.#limits;
    const room = {
      limit: Math.min(this.#queueMax(lane), deliveries - this.deliveries),
      bodyBytesMax: Math.min(this.#queueBytesMax(lane), bodyBytes - this.bodyBytes),
    };
    this.deliveries += room.limit;
    this.bodyBytes += room.bodyBytesMax;
    return room;
  }

  unreserve({ limit, bodyBytesMax }: Room): void {
    this.deliveries -= limit;
    this.bodyBytes -= bodyBytesMax;
  }

  /** Drops later deliveries of a full queue. Returns false if the new delivery does not fit. */
  #makeRoom(queued: QueuedDelivery): boolean {
    const { queue, hastened } = queued.lane;
    if (!this.hasRoom(queued.lane)) this.forgetQueue(hastened);
    const bytesMax = this.#queueBytesMax(queued.lane) - queued.delivery.body.length;
    while (queue.last !== undefined && (queue.length >= this.#queueMax(queued.lane) || queue.bodyBytes > bytesMax)) {
      if (!queued.isBefore(queue.last)) return false;
      this.#dropLast(queue);
    }
    return this.hasRoom(queued.lane);
  }

  get #usedShare(): number {
    return Math.max(this.deliveries / this.#limits.deliveries, this.bodyBytes / this.#limits.bodyBytes);
  }

  /** How many deliveries the queue of a lane may hold now. */
  #queueMax(lane: Lane): number {
    const usedShare = this.#usedShare;
    if (usedShare >= commonShare) return lane.isQuick && usedShare < 1 ? 1 : 0;
    const { queueDeliveries } = this.#limits;
    return lane.isQuick && usedShare <= crowdedShare ? queueDeliveries : Math.ceil(queueDeliveries * smallQueueShare);
  }

  #queueBytesMax(lane: Lane): number {
    return Math.ceil((this.#limits.queueBodyBytes * this.#queueMax(lane)) / this.#limits.queueDeliveries);
  }

  #put(queued: QueuedDelivery): void {
    const { lane, delivery, isHastened } = queued;
    (isHastened ? (lane.hastened ??= new LaneQueue()) : lane.queue).add(queued);
    lane.known.set(delivery.deliveryId, queued);
    this.deliveries += 1;
    this.bodyBytes += delivery.body.length;
    if (!isHastened) lane.account.queued += 1;
  }

  #dropLast(queue: LaneQueue<QueuedDelivery>): void {
    const queued = queue.removeLast();
    if (queued === undefined) return;
    queued.lane.drop(queued);
    this.#subtract(queued);
  }

  #subtract(queued: QueuedDelivery): void {
    this.deliveries -= 1;
    this.bodyBytes -= queued.delivery.body.length;
    if (!queued.isHastened) queued.lane.account.queued -= 1;
  }
}
