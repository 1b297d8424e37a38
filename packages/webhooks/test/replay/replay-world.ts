import { toRecordId } from '@deedwire/core';
import type { DispatcherOptions } from '../../src/dispatch/dispatcher.ts';
import type { ReplayEvent } from '../../src/events.ts';
import { type ReplayId, type LaneId, shardOf } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { ReplayFeeder } from '../../src/replay/feeder.ts';
import type { FeedResult, OpenReplay, ReplayedDelivery, ReplayPart, ReplayStorage } from '../../src/replay/storage.ts';
import { World } from '../dispatch/world.ts';

const rowsPerPart = 256;

/** A replay of deliveries that were sent before. */
interface StoredReplay {
  replay: OpenReplay;
  /** In the order of their ids. */
  deliveries: PendingDelivery[];
  done: number;
  isOpen: boolean;
}

/** A dispatcher and a feeder under virtual time, with storage in memory. */
export class ReplayWorld implements ReplayStorage {
  readonly world: World;
  readonly feeder: ReplayFeeder;
  readonly replays = new Map<ReplayId, StoredReplay>();
  readonly events: ReplayEvent[] = [];
  reads = 0;
  /** How many statements have queued deliveries. */
  feeds = 0;
  /** How often a lane was asked for its room, which looks at all deliveries that it knows. */
  roomsAsked = 0;
  /** How often the feeder has found that its worker was declared dead. */
  fenced = 0;
  /** How long a statement takes. */
  callMs = 2;
  /** By how much the clock of the database is ahead of what the worker knows of it. */
  databaseAheadMs = 0;
  /** Called before a statement that queues deliveries. */
  beforeFeed: () => void = () => {};
  /** Called before the result of a statement that queued deliveries is returned. */
  afterFeed: () => void = () => {};

  constructor(options: Partial<DispatcherOptions> = {}) {
    this.world = new World({ onReplayedSettled: (lane) => this.feeder.feedAgain(lane), ...options });
    const { clock, dispatcher } = this.world;
    this.feeder = new ReplayFeeder({
      storage: this,
      clock,
      lanes: {
        replayRoom: (lane) => {
          this.roomsAsked += 1;
          return dispatcher.replayRoom(lane);
        },
        offer: (deliveries) => dispatcher.offer(deliveries),
        openLane: (lane) => dispatcher.openLane(lane),
        isClaimed: (delivery) => dispatcher.isClaimed(delivery),
      },
      onFenced: () => (this.fenced += 1),
      onEvent: (event) => void this.events.push(event),
    });
    for (let shard = 0; shard < 64; shard += 1) this.feeder.addShard(shard);
  }

  /** Starts a replay of `count` deliveries that failed 15 times each. */
  replay(lane: LaneId, count: number, perSecond = 10_000): StoredReplay {
    const id = toRecordId<'WebhookReplay'>(String(this.replays.size + 1));
    const deliveries = this.world.makeDeliveries(lane, count, { attempts: 15, priorAttempts: 15, replayId: id });
    const first = deliveries[0]?.deliveryId ?? toRecordId<'WebhookDelivery'>('1');
    const stored: StoredReplay = {
      replay: {
        id,
        lane,
        deliveryId: null,
        eventTypes: null,
        onlyFailed: true,
        perSecond,
        untilId: first,
        fromSequence: null,
        untilSequence: null,
        lastId: first,
      },
      deliveries,
      done: 0,
      isOpen: true,
    };
    this.replays.set(id, stored);
    this.feeder.readAgain(shardOf(lane.accountId));
    return stored;
  }

  /** The deliveries of a replay that were sent, in order. */
  sentOf({ replay }: StoredReplay): string[] {
    return this.world.sent
      .filter(({ delivery }) => delivery.replayId === replay.id)
      .map(({ delivery }) => delivery.deliveryId);
  }

  async open(): Promise<OpenReplay[]> {
    this.reads += 1;
    await this.world.clock.wait(this.callMs);
    return [...this.replays.values()].filter(({ isOpen }) => isOpen).map(({ replay }) => replay);
  }

  async part({ id }: OpenReplay): Promise<ReplayPart> {
    await this.world.clock.wait(this.callMs);
    const { deliveries, done } = this.#find(id);
    const rest = deliveries.slice(done, done + rowsPerPart);
    const last = rest.at(-1) ?? deliveries.at(-1);
    return {
      deliveries: rest.map((delivery): ReplayedDelivery => ({
        ...delivery,
        id: delivery.deliveryId,
        occurredAtMs: delivery.occurredAt.getTime(),
      })),
      lastId: last?.deliveryId ?? toRecordId<'WebhookDelivery'>('1'),
      isLast: done + rest.length === deliveries.length,
    };
  }

  async feed({ id }: OpenReplay, _after: unknown, part: ReplayPart): Promise<FeedResult> {
    await this.world.clock.wait(this.callMs / 2);
    this.beforeFeed();
    const stored = this.#find(id);
    if (!stored.isOpen) return 'changed';
    this.feeds += 1;
    const dueAtMs = this.world.clock.nowMs() + this.databaseAheadMs;
    const queued = stored.deliveries
      .slice(stored.done, stored.done + part.deliveries.length)
      .map((delivery) => ({ ...delivery, dueAtMs }));
    stored.done += queued.length;
    stored.isOpen = !part.isLast;
    this.world.storage.insert(queued);
    await this.world.clock.wait(this.callMs / 2);
    this.afterFeed();
    return queued;
  }

  retry(): never {
    throw new Error('No retry is expected.');
  }

  #find(id: ReplayId): StoredReplay {
    const stored = this.replays.get(id);
    if (stored === undefined) throw new Error(`There is no replay ${id}.`);
    return stored;
  }
}
