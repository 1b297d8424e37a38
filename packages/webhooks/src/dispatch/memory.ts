import type { Account } from './account.ts';
import type { Lane, QueuedDelivery } from './lane.ts';
import type { RefillOptions } from './storage.ts';

/**
 * How much waits in memory at most. The last delivery that is added, and the first delivery of a refill, can exceed the sizes.
 * Deliveries in flight are not included: they are bounded by the slots.
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

/** What a refill may return. */
export type Room = Pick<RefillOptions, 'limit' | 'bodyBytesMax'>;

const crowdedShare = 1 / 2;
const commonShare = 3 / 4;
const smallQueueShare = 1 / 16;
const enoughShare = 1 / 2;

/**
 * The deliveries that wait in the queues of all lanes.
 *
 * A queue always holds the first deliveries of its lane: what does not fit is left in storage, and everything that is due
 * after a delivery left in storage is left there, too. So a lane needs a refill only when its queue is empty.
 *
 * Lanes that wait for slots must not use up the memory. Queues of slow lanes are small, as are all queues once half of the
 * memory is used, and the last quarter is for the first delivery of each quick lane.
 */
export class Memory {
  readonly #limits: MemoryLimits;
  /** Deliveries in all queues, and those that refills in flight can return. */
  deliveries = 0;
  bodyBytes = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** More than half is used. Lanes that cannot start soon should not stay in memory. */
  get isCrowded(): boolean {
    return this.#usedShare > crowdedShare;
  }

  /** Whether a lane with an empty queue can add a delivery. */
  hasRoom(lane: Lane): boolean {
    return this.#queueMax(lane) > 0;
  }

  /** Whether the account has enough in memory: half of what its queues hold, or little more than what is in flight. */
  hasEnough({ queued, lanes }: Account): boolean {
    const share = this.isCrowded ? smallQueueShare : enoughShare;
    return queued >= lanes * this.#limits.queueDeliveries * share;
  }

  /** Adds a delivery to the queue of its lane, or leaves it in storage. */
  add(queued: QueuedDelivery): void {
    const { lane } = queued;
    if (lane.isRefilling || queued.dueAtMs >= lane.storedDueAtMs || !this.#makeRoom(queued)) {
      this.leaveInStorage(lane, queued.dueAtMs);
    } else {
      this.#put(queued);
    }
  }

  /** Adds a delivery that a refill returned. Its room was reserved. */
  addRefilled(queued: QueuedDelivery): void {
    if (queued.dueAtMs <= queued.lane.storedDueAtMs) this.#put(queued);
  }

  /** Removes the first delivery of a queue. It stays known to its lane. */
  removeFirst(lane: Lane): QueuedDelivery | undefined {
    const queued = lane.queue.removeFirst();
    if (queued !== undefined) this.#subtract(queued);
    return queued;
  }

  /** A delivery of the lane that is due then is in storage only. */
  leaveInStorage(lane: Lane, dueAtMs: number): void {
    lane.storedDueAtMs = Math.min(lane.storedDueAtMs, dueAtMs);
    if (lane.isRefilling) lane.missedDueAtMs = Math.min(lane.missedDueAtMs, dueAtMs);
    for (let { last } = lane.queue; last !== undefined && last.dueAtMs > lane.storedDueAtMs; { last } = lane.queue) {
      this.#removeLast(lane);
    }
  }

  /** Leaves the whole queue in storage. */
  forget(lane: Lane): void {
    const { first } = lane.queue;
    if (first === undefined) return;
    lane.storedDueAtMs = Math.min(lane.storedDueAtMs, first.dueAtMs);
    while (lane.queue.length > 0) this.#removeLast(lane);
  }

  /** Reserves room for a refill. To be called only if the lane has room. */
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

  /** Leaves later deliveries of the lane in storage if its queue is full. */
  #makeRoom(queued: QueuedDelivery): boolean {
    const { queue } = queued.lane;
    const bytesMax = this.#queueBytesMax(queued.lane) - queued.delivery.body.length;
    while (queue.last !== undefined && (queue.length >= this.#queueMax(queued.lane) || queue.bodyBytes > bytesMax)) {
      if (!queued.isBefore(queue.last)) return false;
      queued.lane.storedDueAtMs = Math.min(queued.lane.storedDueAtMs, queue.last.dueAtMs);
      this.#removeLast(queued.lane);
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
    queued.lane.queue.add(queued);
    queued.lane.known.set(queued.delivery.deliveryId, queued);
    this.deliveries += 1;
    this.bodyBytes += queued.delivery.body.length;
    queued.lane.account.queued += 1;
  }

  #removeLast(lane: Lane): void {
    const queued = lane.queue.removeLast();
    if (queued === undefined) return;
    lane.known.delete(queued.delivery.deliveryId);
    this.#subtract(queued);
  }

  #subtract(queued: QueuedDelivery): void {
    this.deliveries -= 1;
    this.bodyBytes -= queued.delivery.body.length;
    queued.lane.account.queued -= 1;
  }
}
