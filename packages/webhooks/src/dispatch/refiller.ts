import { StoreUnavailableError } from '@deedwire/store';
import { Backoff } from '../kernel/clock.ts';
import { Heap, type HeapNode } from '../kernel/heap.ts';
import type { Lane } from './lane.ts';
import type { Memory, Room } from './memory.ts';
import type { SteadyClock } from './steady-clock.ts';
import type { DispatchStorage, Refill, Walk } from './storage.ts';

const inFlightMax = 4;

export interface RefillerOptions {
  storage: Pick<DispatchStorage, 'refill' | 'walk'>;
  clock: SteadyClock;
  memory: Memory;
  onRead: (lane: Lane, read: Refill | Walk) => void;
  onRefused: (lane: Lane, error: unknown) => void;
  onUnavailable: (error: unknown) => void;
  /** A read has succeeded after storage was unavailable. */
  onResumed: () => void;
}

interface RefillRequest extends HeapNode {
  readonly lane: Lane;
  readonly started: number;
}

/** Reads deliveries of the lanes whose queues are empty, a few at a time, while memory has room. */
export class Refiller {
  readonly #options: RefillerOptions;
  readonly #backoff = new Backoff();
  /** Requests of lanes that were quick. They come first. Those with the same key are in the order in which they were added. */
  readonly #quick = new Heap<RefillRequest>();
  readonly #slow = new Heap<RefillRequest>();
  #inFlight = 0;
  #isStopped = false;
  #cancelPause: (() => void) | null = null;

  constructor(options: RefillerOptions) {
    this.#options = options;
  }

  request(lane: Lane): void {
    const started = lane.source.startRefill();
    if (started === null) return;
    const requests = lane.isQuick ? this.#quick : this.#slow;
    requests.add({ lane, started, heapKey: 0, heapOrder: 0, heapIndex: -1 }, 0);
    this.startNext();
  }

  /** Starts refills. Call it after memory was freed. */
  startNext(): void {
    while (this.#inFlight < inFlightMax && this.#cancelPause === null && !this.#isStopped) {
      const request = this.#nextRequest();
      if (request === undefined) return;
      if (request.lane.source.call.isCurrent(request.started)) void this.#refill(request);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause?.();
  }

  #nextRequest(): RefillRequest | undefined {
    // Otherwise a lane that has become slow meanwhile, and has no room, would delay the quick ones after it.
    for (let { first } = this.#quick; first !== undefined && !first.lane.isQuick; { first } = this.#quick) {
      this.#quick.remove(first);
      this.#slow.add(first, 0);
    }
    for (const requests of [this.#quick, this.#slow]) {
      const { first } = requests;
      if (first === undefined || !this.#options.memory.hasRoom(first.lane)) continue;
      requests.remove(first);
      return first;
    }
    return undefined;
  }

  async #refill(request: RefillRequest): Promise<void> {
    const { lane, started } = request;
    const { memory } = this.#options;
    const room = memory.reserve(lane);
    this.#inFlight += 1;
    let read: Refill | Walk | null = null;
    let failure: unknown;
    try {
      read = await this.#read(lane, room);
    } catch (error) {
      failure = error;
    }
    memory.unreserve(room);
    this.#inFlight -= 1;
    if (read !== null && this.#backoff.reset()) this.#options.onResumed();
    if (failure instanceof StoreUnavailableError) this.#pause(request, failure);
    else if (lane.source.call.end(started)) {
      if (read === null) this.#options.onRefused(lane, failure);
      else this.#options.onRead(lane, read);
    }
    this.startNext();
  }

  /** What a mark makes due follows what is due. */
  async #read(lane: Lane, room: Room): Promise<Refill | Walk> {
    const { storage, clock } = this.#options;
    const nowMs = clock.nowMs();
    const options = { ...room, exclude: lane.known.values().map(({ delivery }) => delivery.deliveryId) };
    const { marks, after } = lane.walk;
    if (after !== null && lane.source.dueAtMs > nowMs) {
      lane.walk.startRead();
      return storage.walk(lane.id, { ...options, marks, after });
    }
    const fromDueAtMs = lane.source.fromDueAtMs(nowMs) - clock.offsetMs;
    if (fromDueAtMs !== -Infinity) {
      const refill = await storage.refill(lane.id, { ...options, fromDueAtMs });
      // Otherwise reads from the start: a delivery that the former owner has rescheduled to an earlier time could be
      // the only one left.
      if (refill.deliveries.length > 0 && refill.nextDueAtMs !== null) return refill;
    }
    const refill = await storage.refill(lane.id, { ...options, fromDueAtMs: -Infinity });
    lane.source.noteWholeRead(nowMs);
    return refill;
  }

  #pause(request: RefillRequest, error: unknown): void {
    // Before all others.
    this.#quick.add(request, -1);
    if (this.#cancelPause !== null || this.#isStopped) return;
    this.#options.onUnavailable(error);
    this.#cancelPause = this.#options.clock.setTimer(() => {
      this.#cancelPause = null;
      this.startNext();
    }, this.#backoff.next());
  }
}
