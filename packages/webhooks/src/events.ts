import type { AttemptResult } from '@deedwire/webhook-sender';
import type { NextStep } from './dispatch/classify-attempt.ts';
import type { PauseReason } from './dispatch/storage.ts';
import type { FanOutEvent } from './fan-out/events.ts';
import type { WorkerId } from './fence/worker-id.ts';
import type { DeliveryId, ReplayId, SubscriptionId } from './kernel/ids.ts';
import type { PendingDelivery } from './kernel/pending-delivery.ts';
import type { Shard } from './kernel/shard.ts';
import type { AcquiredShard } from './workers/sql/shard-rows.ts';

// What the parts of the engine report, and what connects all of them: `engine.ts` calls the rest. Fan-out has its own events.

/** An option of a part that reports what it does. */
export interface Reports<Event> {
  onEvent: (event: Event) => void;
}

/** Options of a part that writes for the worker. */
export interface WritesForWorker {
  /** The id under which this process writes. It changes when the worker registers again after it was declared dead. */
  workerId: () => WorkerId;
  /** A statement found that the worker was declared dead, and wrote nothing. */
  onFenced: () => void;
}

/** Events for logs and metrics. An event with `alarm: true` needs an operator. */
export type EngineEvent =
  | DispatchEvent
  | DispatchStorageEvent
  | FanOutEvent
  | WorkersEvent
  | RetentionEvent
  | BacklogEvent
  | ExchangesEvent
  | ReplayEvent
  /** The next number of a sequence is not beyond the numbers that rows contain. An operator must advance it. Raised once. */
  | { readonly kind: 'sequence-behind'; readonly alarm: true; readonly sequence: string; readonly command: string }
  /** Subscriptions were paused because they pin a retired version. */
  | { readonly kind: 'retired-paused'; readonly subscriptions: readonly SubscriptionId[] }
  /** Reading the lanes of an acquired shard failed. The engine retries after a delay. */
  | { readonly kind: 'shard-unreadable'; readonly shard: Shard; readonly error: unknown }
  /** The lanes of a shard were read after that had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'shards' };

/** Events of the dispatcher for logs and metrics. Alarms need an operator. */
export type DispatchEvent =
  /** An attempt has ended. */
  | {
      readonly kind: 'attempt';
      readonly delivery: PendingDelivery;
      /** See `LaneTarget`. */
      readonly urlNumber: number;
      /** From 1. */
      readonly number: number;
      readonly result: AttemptResult;
      readonly next: NextStep;
    }
  /** Results were recorded by one call. */
  | { readonly kind: 'settled'; readonly count: number }
  /**
   * The delivery was no longer pending as this worker had read it. A success was recorded nevertheless, a failure was
   * not.
   */
  | { readonly kind: 'settlement-stale'; readonly delivery: PendingDelivery }
  | { readonly kind: 'lane-paused'; readonly lane: SubscriptionId; readonly reason: PauseReason }
  | { readonly kind: 'breaker-opened' | 'breaker-closed'; readonly lane: SubscriptionId }
  /** The receiver asked to receive no requests (`Retry-After`). */
  | { readonly kind: 'lane-held'; readonly lane: SubscriptionId; readonly holdMs: number }
  | { readonly kind: 'storage-unavailable'; readonly call: StorageCall; readonly error: unknown }
  /** A call has succeeded after `storage-unavailable`. */
  | { readonly kind: 'loop-resumed'; readonly loop: StorageCall }
  /** Another transaction has locked a row. The call is repeated for that row only. */
  | {
      readonly kind: 'storage-locked';
      readonly call: StorageCall;
      readonly lane: SubscriptionId;
      readonly error: unknown;
    }
  /** A result was recorded again after `settling-stalled`, or found locked. */
  | { readonly kind: 'settling-resumed' }
  | DispatchAlarm;

export type DispatchAlarm =
  /** `send` threw. The attempt counts as failed. */
  | {
      readonly kind: 'attempt-broken';
      readonly alarm: true;
      readonly delivery: PendingDelivery;
      readonly error: unknown;
    }
  /** The secret of the lane cannot be decrypted. Its deliveries wait, and the target is read again after a minute. */
  | { readonly kind: 'secret-unreadable'; readonly alarm: true; readonly lane: SubscriptionId }
  /**
   * Our proxy could not be reached or refused. The deliveries are postponed without an attempt, and their lanes wait. Reported at
   * most every 10 s.
   */
  | {
      readonly kind: 'proxy-failed';
      readonly alarm: true;
      /** What was found last. */
      readonly found: string;
      /** How many deliveries were postponed since the last report. */
      readonly postponed: number;
    }
  /** Storage refused this result. The delivery is set aside: this process does not send it again. */
  | {
      readonly kind: 'settlement-refused';
      readonly alarm: true;
      readonly delivery: PendingDelivery;
      readonly error: unknown;
    }
  /** Storage refused so many results of the lane that it sends nothing more. */
  | { readonly kind: 'lane-stopped'; readonly alarm: true; readonly lane: SubscriptionId }
  /** Storage refused to read the lane or to count a claim. The lane waits for a minute. */
  | {
      readonly kind: 'lane-refused';
      readonly alarm: true;
      readonly lane: SubscriptionId;
      readonly call: StorageCall;
      readonly error: unknown;
    }
  /** The delivery was claimed five times without a result, and fails. It may have ended its workers. */
  | { readonly kind: 'delivery-given-up'; readonly alarm: true; readonly delivery: PendingDelivery }
  /**
   * Results wait, and none was recorded for a whole lease: storage is unavailable or refuses all. The worker must not renew
   * its lease. No request starts until a result is recorded.
   */
  | { readonly kind: 'settling-stalled'; readonly alarm: true; readonly unsettled: number };

export type StorageCall = 'refill' | 'targets' | 'settle' | 'countClaims';

/** Events of storage for logs and metrics. */
export type DispatchStorageEvent =
  /** A success was recorded after another worker had recorded another result for the delivery. */
  | { readonly kind: 'late-success-recorded'; readonly deliveries: readonly DeliveryId[] }
  /** A delivery that has not expired has no payload. It is skipped. */
  | {
      readonly kind: 'payload-missing';
      readonly alarm: true;
      readonly lane: SubscriptionId;
      readonly deliveryId: DeliveryId;
    };

export type BacklogEvent =
  /** Everything of a deleted subscription was removed. `deliveries` were removed by this worker. */
  | { readonly kind: 'backlog-removed'; readonly subscription: SubscriptionId; readonly deliveries: number }
  /** A statement failed. It is retried after a delay. */
  | { readonly kind: 'backlog-unavailable'; readonly error: unknown }
  /** A statement has succeeded after one had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'backlog' }
  /** The database refused a statement. The next owner of the shard tries again. */
  | { readonly kind: 'backlog-failed'; readonly alarm: true; readonly shard: Shard; readonly error: unknown };

/** Details of attempts were lost. Nothing else is affected. */
export type ExchangesEvent =
  /** More waited than the worker keeps in memory. */
  | { readonly kind: 'exchanges-dropped'; readonly count: number }
  /** The database did not store them. The next ones are tried after a delay. */
  | { readonly kind: 'exchanges-not-stored'; readonly count: number; readonly error: unknown };

/** Events of retries and replays for logs and metrics. Alarms need an operator. */
export type ReplayEvent =
  /** Everything that a replay matches was queued. */
  | { readonly kind: 'replay-completed'; readonly replay: ReplayId }
  /** A statement failed. It is repeated after a delay. */
  | { readonly kind: 'replay-unavailable'; readonly error: unknown }
  /** A statement has succeeded after one had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'replays' }
  /** The database refused a statement. The replay waits for a minute. */
  | {
      readonly kind: 'replay-refused';
      readonly alarm: true;
      readonly replay: ReplayId | null;
      readonly error: unknown;
    };

/** Events of retention for logs and metrics. Alarms need an operator. */
export type RetentionEvent =
  | { readonly kind: 'partitions-created'; readonly daysAhead: number }
  /** Undelivered deliveries reached the end of retention. Their status is EXPIRED. */
  | { readonly kind: 'deliveries-expired'; readonly count: number }
  | { readonly kind: 'partition-dropped'; readonly name: string }
  /** A run failed. It is retried. */
  | { readonly kind: 'retention-failed'; readonly error: unknown }
  /** A run has succeeded after one had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'retention' }
  /** Partitions exist for few days only. Events will be refused if creating partitions continues to fail. */
  | { readonly kind: 'partitions-short'; readonly alarm: true; readonly daysAhead: number }
  /** Partitions could not be dropped for days, because a transaction does not end. */
  | { readonly kind: 'partitions-overdue'; readonly alarm: true; readonly names: readonly string[] }
  /** Events that no worker could fan out reached the end of retention. No subscription receives them. */
  | { readonly kind: 'events-expired'; readonly alarm: true; readonly count: number };

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
