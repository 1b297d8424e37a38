import type { WorkerId } from '../fence/worker-id.ts';
import type { Shard } from '../kernel/shard.ts';
import type { AcquiredShard } from './sql/shard-rows.ts';

/** Events of the membership for logs and metrics. */
export type WorkersEvent =
  | { readonly kind: 'worker-registered'; readonly workerId: WorkerId }
  | { readonly kind: 'shards-acquired'; readonly workerId: WorkerId; readonly shards: readonly AcquiredShard[] }
  | { readonly kind: 'shards-released'; readonly workerId: WorkerId; readonly shards: readonly Shard[] }
  /** The leases of other workers expired. */
  | { readonly kind: 'workers-declared-dead'; readonly workerIds: readonly WorkerId[] }
  /** The shards of dead workers are free again. */
  | { readonly kind: 'shards-freed'; readonly shards: readonly Shard[] }
  /** This worker was declared dead, because it did not renew its lease in time. It registers again. */
  | { readonly kind: 'worker-lost'; readonly workerId: WorkerId }
  /** A renewal failed. It is retried. */
  | { readonly kind: 'renewal-failed'; readonly error: unknown }
  /** Sharing the shards failed. It is retried. */
  | { readonly kind: 'sharing-failed'; readonly error: unknown }
  /** A renewal, or sharing the shards, has succeeded after it had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'lease' | 'sharing' };

export type OnWorkersEvent = (event: WorkersEvent) => void;
