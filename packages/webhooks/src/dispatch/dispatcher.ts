import type { AccountId, DeliveryId, SubscriptionId } from '../ids.ts';
import type { Shard } from '../shard.ts';
import type { Send } from './attempts.ts';
import type { Clock } from './clock.ts';
import type { OnDispatchEvent } from './events.ts';
import { LaneDispatcher } from './lane-dispatcher.ts';
import type { LaneId } from './lane-registry.ts';
import type { MemoryLimits } from './memory.ts';
import type { PendingDelivery } from './pending-delivery.ts';
import type { DispatchStorage } from './storage.ts';

export interface DispatcherOptions {
  storage: DispatchStorage;
  send: Send;
  clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  onEvent: OnDispatchEvent;
  /** The lease of the worker. Nothing settled for this time is reported as `settling-stalled`. */
  leaseMs: number;
  /** How many requests can be in flight. Defaults to 2000. */
  slots?: number | undefined;
  /** How many settle calls can be in flight. Defaults to 4. */
  settleConcurrency?: number | undefined;
  memory?: MemoryLimits | undefined;
  /** How many lanes are in memory before idle ones are forgotten. Defaults to 50,000. */
  lanesMax?: number | undefined;
}

export interface DispatcherStats {
  readonly lanes: number;
  readonly inFlight: number;
  /** Results that are not recorded yet. */
  readonly unsettled: number;
  /** Deliveries that wait in memory, and those that refills in flight can return. */
  readonly queued: number;
  readonly queuedBodyBytes: number;
}

/**
 * Sends the deliveries of the shards that this process owns, and has the results recorded.
 *
 * What is in flight is known to this process only. When it dies, the next owner sends again whatever was not recorded: at
 * least once, never lost.
 */
export interface Dispatcher {
  /**
   * Adds new deliveries. To be called immediately after the commit of the transaction that wrote them. Those that do not fit
   * into memory are read later. A lane that is not in memory is taken to have no other pending deliveries, so `openLane` must
   * have been called for those that have.
   */
  offer(deliveries: readonly PendingDelivery[]): void;
  /**
   * Whether the lanes of the account have enough in memory. What is offered meanwhile may have to be left in storage and read
   * again.
   */
  isBehind(account: AccountId): boolean;
  /** Reads a lane that has pending deliveries in storage. What waits of it in memory is read again. */
  openLane(id: LaneId): void;
  /**
   * Opens lanes of a worker that died. Each starts with one request at a time, which is counted in storage before it is sent,
   * until its first result is settled.
   */
  openShardAfterTakeover(lanes: readonly LaneId[]): void;
  /** Starts nothing more on a lane, because its subscription is paused or deleted. Requests in flight are settled. */
  closeLane(id: SubscriptionId): void;
  /** Closes all lanes of a shard that another worker will own. */
  closeShard(shard: Shard): void;
  /** Closes all lanes, because other workers own all shards. */
  closeAllShards(): void;
  /** The deliveries of these shards that are in flight or whose results are not recorded. */
  unfinishedIn(shards: readonly Shard[]): { subscriptionId: SubscriptionId; deliveryId: DeliveryId }[];
  /** Those of these shards that have lanes of a worker that died, of which nothing was settled since. */
  recoveringIn(shards: readonly Shard[]): Shard[];
  /** The subscription has changed. Nothing more is sent before its target is read again. */
  laneChanged(id: SubscriptionId): void;
  /** Starts nothing more on any lane. */
  stopTaking(): void;
  /** Stops, and resolves when everything in flight has ended and is settled. */
  drain(): Promise<void>;
  stats(): DispatcherStats;
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new LaneDispatcher(options);
}
