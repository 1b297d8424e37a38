import { seededRandom } from '@deedwire/testing';
import type { AttemptResult, ProxyProblem } from '@deedwire/webhook-sender';
import { type DispatcherOptions, Dispatcher } from '../../src/dispatch/dispatcher.ts';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import type { LaneTarget, SendableTarget } from '../../src/dispatch/lane-target.ts';
import { noMarks } from '../../src/dispatch/lane-walk.ts';
import type { DispatchEvent } from '../../src/events.ts';
import type { DeliveryId, LaneId } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { deliveryId, eventId, laneId } from './ids.ts';
import { MemoryStorage } from './memory-storage.ts';
import { VirtualClock } from './virtual-clock.ts';

/** How a receiver handles one request. */
export interface ReceiverResponse {
  afterMs: number;
  /** Null: it never responds, and the request times out. */
  status: number | null;
  retryAfter?: string;
  /** The proxy did not open a tunnel. */
  proxyProblem?: ProxyProblem;
}

export type Receiver = (delivery: PendingDelivery, attempt: number) => ReceiverResponse;

/** One request that the dispatcher made. Times are elapsed virtual milliseconds. */
export interface SentRequest {
  delivery: PendingDelivery;
  attempt: number;
  target: SendableTarget;
  startedAtMs: number;
  /** The turn of the event loop in which it started. */
  turn: number;
  endedAtMs: number | null;
}

export const succeedsAfter =
  (afterMs: number): Receiver =>
  () => ({ afterMs, status: 200 });
export const fails: Receiver = () => ({ afterMs: 10, status: 500 });
/** The sender gives up after 5 s. */
export const hangs: Receiver = () => ({ afterMs: 5_000, status: null });
/** The sender gives up after the longest timeout of a subscription. */
export const hangsLongest: Receiver = () => ({ afterMs: 15_000, status: null });

/** A dispatcher under virtual time, with storage in memory and simulated receivers. */
export class World {
  readonly clock = new VirtualClock();
  readonly storage = new MemoryStorage(this.clock);
  readonly random: () => number;
  readonly events: DispatchEvent[] = [];
  readonly sent: SentRequest[] = [];
  readonly receivers = new Map<string, Receiver>();
  /** Requests in flight of each owner. */
  readonly inFlight = new Map<DeliveryId, number>();
  /** Deliveries that an owner sent while its earlier request was in flight, or after their result was recorded. */
  readonly wronglySent: DeliveryId[] = [];
  inFlightMax = 0;
  dispatcher: Dispatcher;
  readonly #options: Partial<DispatcherOptions>;
  readonly #sequences = new Map<string, number>();
  #deliveries = 0;

  constructor(options: Partial<DispatcherOptions> = {}, seed = 1) {
    this.random = seededRandom(seed);
    this.#options = options;
    this.storage.onMarked = (lane) => this.dispatcher.openLane(lane);
    this.dispatcher = this.#createDispatcher();
  }

  /** Another worker takes over after the lease has expired. Requests in flight end, but their results are not recorded. */
  takeOver(): void {
    this.dispatcher.stopClaiming();
    this.storage.owner += 1;
    this.inFlight.clear();
    this.dispatcher = this.#createDispatcher();
    const lanes = new Map(this.storage.pending().map((row) => [row.subscriptionId, row]));
    this.dispatcher.openLanes(
      [...lanes.values()].map((lane) => ({ ...lane, mayBeMarked: this.storage.isMarked(lane.subscriptionId) })),
      true,
    );
  }

  /**
   * Another worker takes all shards over. This one still records the results of its requests in flight; the other one
   * does not read those deliveries for a minute.
   */
  handOver(): void {
    this.dispatcher.stopClaiming();
    this.dispatcher.closeAllShards();
    for (const id of this.inFlight.keys()) this.storage.postpone(id, 60_000);
    const lanes = new Map(this.storage.pending().map((row) => [row.subscriptionId, row]));
    this.dispatcher = this.#createDispatcher();
    for (const lane of lanes.values()) this.dispatcher.openLane(lane);
  }

  #createDispatcher(): Dispatcher {
    const { owner } = this.storage;
    return new Dispatcher({
      storage: this.storage.ownedBy(owner),
      send: (target, delivery, attempt) => this.#send(owner, target, delivery, attempt),
      clock: this.clock,
      random: this.random,
      onEvent: (event) => void (event.kind === 'attempt' || event.kind === 'settled' || this.events.push(event)),
      leaseMs: 15_000,
      ...this.#options,
    });
  }

  /** Adds a subscription. Accounts and lanes are numbers. */
  addLane(lane: number, receiver: Receiver, account: number = lane): LaneId {
    const id = laneId(lane, account);
    this.receivers.set(id.subscriptionId, receiver);
    this.storage.setTarget(targetFor(id));
    return id;
  }

  /** Adds subscriptions of as many accounts. */
  addLanes(count: number, receiver: Receiver, first = 1): LaneId[] {
    return Array.from({ length: count }, (_, index) => this.addLane(first + index, receiver));
  }

  /** Changes what is stored of an active subscription, as an API or another worker does. */
  changeTarget({ subscriptionId }: LaneId, changes: Partial<LaneTarget>): void {
    const target = this.storage.targetOf(subscriptionId);
    if (target === null) throw new Error('The subscription is paused.');
    this.storage.setTarget({ ...target, ...changes });
  }

  /** The owner pauses the subscription. */
  pause({ subscriptionId }: LaneId): void {
    this.storage.pause(subscriptionId);
    this.dispatcher.closeLane(subscriptionId);
  }

  resume(lane: LaneId): void {
    this.storage.resume(lane.subscriptionId);
    this.dispatcher.openLane(lane);
  }

  /** Creates deliveries that are due now. They are neither stored nor offered. */
  makeDeliveries(id: LaneId, count: number, { claims = 0, ...changes }: DeliveryChanges = {}): PendingDelivery[] {
    return Array.from({ length: count }, () => {
      const sequence = (this.#sequences.get(id.subscriptionId) ?? 0) + 1;
      this.#sequences.set(id.subscriptionId, sequence);
      this.#deliveries += 1;
      return {
        ...id,
        deliveryId: deliveryId(this.#deliveries),
        eventId: eventId(this.#deliveries),
        eventType: 'order.placed',
        eventVersion: '2026-11-01',
        occurredAt: new Date(this.clock.nowMs()),
        requestId: null,
        isTest: false,
        sequence: String(sequence),
        attempts: 0,
        priorAttempts: 0,
        replayId: null,
        claims: Array.from({ length: claims }, () => new Date(this.clock.nowMs())),
        dueAtMs: this.clock.nowMs(),
        body,
        ...changes,
      };
    });
  }

  /** Stores deliveries that are due now, without offering them: a backlog. */
  store(id: LaneId, count: number, changes: DeliveryChanges = {}): PendingDelivery[] {
    const deliveries = this.makeDeliveries(id, count, changes);
    this.storage.insert(deliveries);
    return deliveries;
  }

  /** Stores deliveries and offers them, as fan-out does. */
  offer(id: LaneId, count: number, changes: DeliveryChanges = {}): PendingDelivery[] {
    this.dispatcher.expect([id]);
    const deliveries = this.store(id, count, changes);
    this.dispatcher.offer(deliveries);
    return deliveries;
  }

  /** The sequences of all requests, in order. */
  get sentSequences(): number[] {
    return this.sent.map(({ delivery }) => Number(delivery.sequence));
  }

  sentTo(id: LaneId): SentRequest[] {
    return this.sent.filter(({ delivery }) => delivery.subscriptionId === id.subscriptionId);
  }

  eventsOf<Kind extends DispatchEvent['kind']>(kind: Kind): Extract<DispatchEvent, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<DispatchEvent, { kind: Kind }> => event.kind === kind);
  }

  async #send(
    owner: number,
    target: SendableTarget,
    delivery: PendingDelivery,
    attempt: number,
  ): Promise<AttemptResult> {
    const { clock, inFlight } = this;
    const startedAtMs = clock.elapsedMs;
    const startedAt = new Date(clock.nowMs());
    const request: SentRequest = { delivery, attempt, target, startedAtMs, turn: clock.turns, endedAtMs: null };
    this.sent.push(request);
    const row = this.storage.find(delivery.deliveryId);
    const isRecorded = row === undefined || row.attempts !== delivery.attempts;
    if (owner === this.storage.owner && (isRecorded || inFlight.get(delivery.deliveryId) === owner)) {
      this.wronglySent.push(delivery.deliveryId);
    }
    inFlight.set(delivery.deliveryId, owner);
    this.inFlightMax = Math.max(this.inFlightMax, inFlight.size);
    const receiver = this.receivers.get(delivery.subscriptionId) ?? fails;
    try {
      const { afterMs, status, retryAfter = null, proxyProblem } = receiver(delivery, attempt);
      await clock.wait(afterMs);
      const durationMs = clock.elapsedMs - startedAtMs;
      const error = status === null ? 'TIMEOUT' : null;
      return {
        startedAt,
        durationMs,
        responseStatus: status,
        error,
        retryAfter,
        ...(proxyProblem && { proxyProblem }),
      };
    } finally {
      if (inFlight.get(delivery.deliveryId) === owner) inFlight.delete(delivery.deliveryId);
      request.endedAtMs = clock.elapsedMs;
    }
  }
}

/** `claims` is how many workers have died. */
type DeliveryChanges = Omit<Partial<PendingDelivery>, 'claims'> & { claims?: number };

/** A world with one subscription. */
export function worldWithLane(
  receiver: Receiver,
  options: Partial<DispatcherOptions> = {},
): { world: World; lane: LaneId } {
  const world = new World(options);
  return { world, lane: world.addLane(1, receiver) };
}

const body = new TextEncoder().encode('{}');

function targetFor(id: LaneId): LaneTarget {
  return {
    ...id,
    callbackUrl: `https://receiver.example/${id.subscriptionId}`,
    urlNumber: 1,
    secret: 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0',
    nextSecret: null,
    rotationEndsAtMs: null,
    timeoutMs: 5_000,
    requestHeader: null,
    isHeaderDropped: false,
    state: cleanLaneState,
    marks: noMarks,
  };
}
