import type { Store } from '@deedwire/store';
import type { Clock } from '../dispatch/clock.ts';
import type { LaneId } from '../dispatch/lane-registry.ts';
import type { PendingDelivery } from '../dispatch/pending-delivery.ts';
import type { AccountId } from '../ids.ts';
import type { Shard } from '../shard.ts';
import type { WorkerId } from '../workers/worker-id.ts';
import type { OnFanOutEvent } from './events.ts';
import type { FanOutLimits } from './limits.ts';
import { QueueFanOut } from './queue-fan-out.ts';
import type { Renderer } from './renderer.ts';

export interface FanOutOptions {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
  workerId: () => WorkerId;
  render: Renderer;
  /** Called straight after the commit of a round, with the deliveries of subscriptions that are not paused. */
  offer: (deliveries: readonly PendingDelivery[]) => void;
  /** Whether the lanes of the account have enough to send. Its entries then wait, for at most 250 ms. */
  isBehind: (accountId: AccountId) => boolean;
  /** A subscription was created, changed, paused, resumed or deleted. Can be called again for the same change. */
  onSubscriptionChanged: (change: LaneId) => Promise<void>;
  /** A write whose outcome is unknown may have added deliveries to these lanes. Read them from storage. */
  onUncertain: (lanes: readonly LaneId[]) => void;
  onEvent: OnFanOutEvent;
  limits?: Partial<FanOutLimits>;
}

/** Turns the queued events of the shards of this worker into deliveries. */
export interface FanOut {
  addShards(shards: readonly { shard: Shard; isRecovering: boolean }[]): void;
  /** Those of these shards that were added as recovering, and of which entries that were queued then still wait. */
  recoveringIn(shards: readonly Shard[]): Shard[];
  /** Resolves when nothing of the shard is in progress. */
  removeShard(shard: Shard): Promise<void>;
  /** The worker was declared dead. Nothing in progress is offered. */
  removeAllShards(): void;
  /** There may be new entries in these shards, or in all if null. */
  wake(shards: readonly Shard[] | null): void;
  /** Starts nothing more. Resolves when nothing is in progress. */
  stop(): Promise<void>;
}

export function createFanOut(options: FanOutOptions): FanOut {
  return new QueueFanOut(options);
}
