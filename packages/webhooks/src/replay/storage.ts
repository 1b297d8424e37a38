import type { DeliveryId, EventId, ReplayId, LaneId, Shard } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';

/** A retry or a replay in progress. Its subscription is not paused. */
export interface OpenReplay {
  readonly id: ReplayId;
  readonly lane: LaneId;
  /** The only delivery of a retry. Null for a replay. */
  readonly deliveryId: DeliveryId | null;
  /** Null for all types. */
  readonly eventTypes: readonly string[] | null;
  readonly onlyFailed: boolean;
  /** How many deliveries may be queued per second. */
  readonly perSecond: number;
  /** Only deliveries with a smaller id. */
  readonly untilId: DeliveryId;
  /** The first sequence of the range, and the one after the last, in decimal. Null does not restrict the range. */
  readonly fromSequence: string | null;
  readonly untilSequence: string | null;
  /** Everything up to this delivery is done. */
  readonly lastId: DeliveryId;
}

/** A delivery that matches a replay. */
export interface ReplayedDelivery {
  readonly id: DeliveryId;
  readonly eventId: EventId;
  readonly eventType: string;
  readonly eventVersion: string;
  readonly occurredAtMs: number;
  /** In decimal. */
  readonly sequence: string;
}

/** A part of the range of a replay. */
export interface ReplayPart {
  /** What matches, in the order of ids. */
  readonly deliveries: readonly ReplayedDelivery[];
  /** The end of the part. */
  readonly lastId: DeliveryId;
  /** Whether the range ends with this part. */
  readonly isLast: boolean;
}

/** `changed`: the replay was cancelled or is not as this worker has read it, or its subscription is paused or deleted. */
export type FeedResult = 'changed' | readonly PendingDelivery[];

/** `locked`: another transaction holds the delivery. `changed`: as `FeedResult`. */
export type RetryResult = 'changed' | 'locked' | 'queued';

/**
 * The storage of replays. Each call is a statement or two, and throws as those of `DispatchStorage` do. The writing ones write
 * nothing if this worker was declared dead, and throw `FencedOutError`.
 */
export interface ReplayStorage {
  /** Reads what is in progress in these shards. Ends the replays of deleted subscriptions. */
  open(shards: readonly Shard[]): Promise<readonly OpenReplay[]>;
  /** Reads the next part after a delivery. */
  part(replay: OpenReplay, after: DeliveryId): Promise<ReplayPart>;
  /** Queues the deliveries of a part and advances the replay from `after` to its end, in one transaction. */
  feed(replay: OpenReplay, after: DeliveryId, part: ReplayPart): Promise<FeedResult>;
  /** Queues the delivery of a retry before all others of its subscription, even if it waits for its next attempt. */
  retry(replay: OpenReplay): Promise<RetryResult>;
}
