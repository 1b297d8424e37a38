import type { Store } from '@deedwire/store';
import type { Clock } from '../dispatch/clock.ts';
import type { Shard } from '../shard.ts';
import type { OnWorkersEvent } from './events.ts';
import type { AcquiredShard } from './sql/acquire-shards.ts';
import type { InFlightDelivery } from './sql/release-shards.ts';
import type { WorkerId } from './worker-id.ts';
import { WorkerMember } from './worker-member.ts';

export interface WorkersOptions {
  store: Store;
  /**
   * A separate store with two connections, so that no other statement delays a renewal. Two, because a half-open connection
   * responds to nothing for 10 s.
   */
  renewalStore: Store;
  clock: Pick<Clock, 'setTimer'>;
  /** Host and process id, for operators. */
  name: string;
  leaseMs: number;
  /** Defaults to a third of the lease. */
  renewMs?: number;
  /** While it returns true, the lease is not renewed, so that another worker takes over. */
  isStalled: () => boolean;
  /** The callbacks never overlap. When one rejects, it is called again. */
  onAcquired: (shards: readonly AcquiredShard[]) => Promise<void>;
  /** Those of these shards whose owner died, and of which not all was taken since. Called before `onReleasing`. */
  recoveringIn: (shards: readonly Shard[]) => readonly Shard[];
  /** Starts no further work on these shards. Resolves when fan-out has stopped there. */
  onReleasing: (shards: readonly Shard[]) => Promise<void>;
  /** The deliveries of these shards whose results are not recorded. Called after `onReleasing`. */
  inFlight: (shards: readonly Shard[]) => readonly InFlightDelivery[];
  /** This worker was declared dead. It owns nothing, and all that it knows is outdated. It registers again afterwards. */
  onLost: () => Promise<void>;
  onEvent: OnWorkersEvent;
}

/** The membership of this process in the group of workers that share the shards. */
export interface Workers {
  /** Registers, repeating while the database is unavailable. Then takes shards in the background. */
  start(): Promise<void>;
  /** Changes when the worker was declared dead. Throws before `start` has resolved. */
  readonly id: WorkerId;
  readonly shards: ReadonlySet<Shard>;
  /** Workers or shards have changed. Without it, that is noticed within `renewMs`. */
  wake(): void;
  /** A statement found no fence: looks whether this worker was declared dead. */
  fencedOut(): void;
  /** Releases all shards and takes no more. The results of what is in flight can still be recorded until `stop`. */
  leave(): Promise<void>;
  /** Leaves, if it has not, and removes the worker. What could not be released is taken over when the lease expires. */
  stop(): Promise<void>;
}

export function createWorkers(options: WorkersOptions): Workers {
  return new WorkerMember(options);
}
