import type { AttemptResult } from '@deedwire/webhook-sender';
import type { NextStep } from './dispatch/classify-attempt.ts';
import type { PauseReason } from './dispatch/storage.ts';
import type { WorkerId } from './fence/fence.ts';
import type { DeliveryId, ReplayId, SubscriptionId, Shard, AccountId, EventId } from './kernel/ids.ts';
import type { PendingDelivery } from './kernel/pending-delivery.ts';
import type { AcquiredShard } from './workers/sql/shard-rows.ts';

// What the parts of the engine report, and what connects all of them: `engine.ts` calls the rest.

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
  | StatisticsEvent
  | ReplayEvent
  /** The next number of a sequence is not beyond the numbers that rows contain. An operator must advance it. Raised once. */
  | { kind: 'sequence-behind'; alarm: true; sequence: string; command: string }
  /** Subscriptions were paused because they pin a retired version. */
  | { kind: 'retired-paused'; subscriptions: readonly SubscriptionId[] }
  /** Reading the lanes of an acquired shard failed. The engine retries after a delay. */
  | { kind: 'shard-unreadable'; shard: Shard; error: unknown }
  /** The lanes of a shard were read after that had failed. */
  | { kind: 'loop-resumed'; loop: 'shards' };

/** Events of the dispatcher for logs and metrics. Alarms need an operator. */
export type DispatchEvent =
  /** An attempt has ended. */
  | {
      kind: 'attempt';
      delivery: PendingDelivery;
      /** See `LaneTarget`. */
      urlNumber: number;
      isHeaderDropped: boolean;
      /** From 1. */
      number: number;
      result: AttemptResult;
      next: NextStep;
    }
  /** Results were recorded by one call. */
  | { kind: 'settled'; count: number }
  /**
   * The delivery was no longer pending as this worker had read it. A success was recorded nevertheless, a failure was
   * not.
   */
  | { kind: 'settlement-stale'; delivery: PendingDelivery }
  | { kind: 'lane-paused'; lane: SubscriptionId; reason: PauseReason }
  | { kind: 'breaker-opened' | 'breaker-closed'; lane: SubscriptionId }
  /** The receiver asked to receive no requests (`Retry-After`). */
  | { kind: 'lane-held'; lane: SubscriptionId; holdMs: number }
  | { kind: 'storage-unavailable'; call: StorageCall; error: unknown }
  /** A call has succeeded after `storage-unavailable`. */
  | { kind: 'loop-resumed'; loop: StorageCall }
  /** Another transaction has locked a row. The call is repeated for that row only. */
  | { kind: 'storage-locked'; call: StorageCall; lane: SubscriptionId; error: unknown }
  /** A result was recorded again after `settling-stalled`, or found locked. */
  | { kind: 'settling-resumed' }
  | DispatchAlarm;

export type DispatchAlarm =
  /** `send` threw, or its result could not be classified. The attempt counts as failed. */
  | { kind: 'attempt-broken'; alarm: true; delivery: PendingDelivery; error: unknown }
  /** The secret of the lane, or its request header, cannot be decrypted. Its deliveries wait, and the target is read again after a minute. */
  | { kind: 'secret-unreadable'; alarm: true; lane: SubscriptionId }
  /**
   * Our proxy could not be reached or refused. The deliveries are postponed without an attempt, and their lanes wait. Reported at
   * most every 10 s.
   */
  | {
      kind: 'proxy-failed';
      alarm: true;
      /** What was found last. */
      found: string;
      /** How many deliveries were postponed since the last report. */
      postponed: number;
    }
  /** Storage refused this result. The delivery is set aside: this process does not send it again. */
  | { kind: 'settlement-refused'; alarm: true; delivery: PendingDelivery; error: unknown }
  /** Storage refused so many results of the lane that it sends nothing more. */
  | { kind: 'lane-stopped'; alarm: true; lane: SubscriptionId }
  /** Storage refused to read the lane or to count a claim. The lane waits for a minute. */
  | { kind: 'lane-refused'; alarm: true; lane: SubscriptionId; call: StorageCall; error: unknown }
  /**
   * The delivery failed: five workers claimed it and ended, or lost their leases, before they recorded an attempt. During the last two
   * claims, nothing else was sent. An operator can send it again with `command`.
   */
  | {
      kind: 'delivery-given-up';
      alarm: true;
      delivery: PendingDelivery;
      claimedAt: PendingDelivery['claims'];
      command: string;
    }
  /**
   * Results wait, and none was recorded for a whole lease: storage is unavailable or refuses all. The worker must not renew
   * its lease. No request starts until a result is recorded.
   */
  | { kind: 'settling-stalled'; alarm: true; unsettled: number };

export type StorageCall = 'refill' | 'targets' | 'settle' | 'countClaims';

/** Events of storage for logs and metrics. */
export type DispatchStorageEvent =
  /** A success was recorded after another worker had recorded another result for the delivery. */
  | { kind: 'late-success-recorded'; deliveries: readonly DeliveryId[] }
  /** A delivery that has not expired has no payload. It is skipped. */
  | { kind: 'payload-missing'; alarm: true; lane: SubscriptionId; deliveryId: DeliveryId };

export type BacklogEvent =
  /** Everything of a deleted subscription was removed. `deliveries` were removed by this worker. */
  | { kind: 'backlog-removed'; subscription: SubscriptionId; deliveries: number }
  /** A statement failed. It is retried after a delay. */
  | { kind: 'backlog-unavailable'; error: unknown }
  /** A statement has succeeded after one had failed. */
  | { kind: 'loop-resumed'; loop: 'backlog' }
  /** The database refused a statement. The next owner of the shard tries again. */
  | { kind: 'backlog-failed'; alarm: true; shard: Shard; error: unknown };

/** Details of attempts were lost. Nothing else is affected. */
export type ExchangesEvent =
  /** More waited than the worker keeps in memory. */
  | { kind: 'exchanges-dropped'; count: number }
  /** The database did not store them. The next ones are tried after a delay. */
  | { kind: 'exchanges-not-stored'; count: number; error: unknown };

/** Counts of subscriptions by hour were not stored. Nothing else is affected. */
export type StatisticsEvent =
  /** The database did not store those of so many hours. The worker tries again after a minute, unless it stops. */
  | { kind: 'statistics-not-stored'; hours: number; error: unknown }
  /** The counts of so many subscriptions and hours are lost: the database refused them for too long, or until the worker stopped. */
  | { kind: 'statistics-dropped'; count: number };

/** Events of retries and replays for logs and metrics. Alarms need an operator. */
export type ReplayEvent =
  /** Everything that a replay matches was queued. */
  | { kind: 'replay-completed'; replay: ReplayId }
  /** A statement failed. It is repeated after a delay. */
  | { kind: 'replay-unavailable'; error: unknown }
  /** A statement has succeeded after one had failed. */
  | { kind: 'loop-resumed'; loop: 'replays' }
  /** The database refused a statement. The replay waits for a minute. */
  | { kind: 'replay-refused'; alarm: true; replay: ReplayId | null; error: unknown };

/** Events of retention for logs and metrics. Alarms need an operator. */
export type RetentionEvent =
  | { kind: 'partitions-created'; daysAhead: number }
  /** Undelivered deliveries reached the end of retention. Their status is EXPIRED. */
  | { kind: 'deliveries-expired'; count: number }
  | { kind: 'partition-dropped'; name: string }
  /** A run failed. It is retried. */
  | { kind: 'retention-failed'; error: unknown }
  /** A run has succeeded after one had failed. */
  | { kind: 'loop-resumed'; loop: 'retention' }
  /** Partitions exist for few days only. Events will be refused if creating partitions continues to fail. */
  | { kind: 'partitions-short'; alarm: true; daysAhead: number }
  /** Partitions could not be dropped for days, because a transaction does not end. */
  | { kind: 'partitions-overdue'; alarm: true; names: readonly string[] }
  /** Events that no worker could fan out reached the end of retention. No subscription receives them. */
  | { kind: 'events-expired'; alarm: true; count: number };

/** Events of the membership for logs and metrics. */
export type WorkersEvent =
  | { kind: 'worker-registered'; workerId: WorkerId }
  | { kind: 'shards-acquired'; workerId: WorkerId; shards: readonly AcquiredShard[] }
  | { kind: 'shards-released'; workerId: WorkerId; shards: readonly Shard[] }
  /** The leases of other workers expired. */
  | { kind: 'workers-declared-dead'; workerIds: readonly WorkerId[] }
  /** The shards of dead workers are free again. */
  | { kind: 'shards-freed'; shards: readonly Shard[] }
  /** This worker was declared dead, because it did not renew its lease in time. It registers again. */
  | { kind: 'worker-lost'; workerId: WorkerId }
  /** A renewal failed. It is retried. */
  | { kind: 'renewal-failed'; error: unknown }
  /** Sharing the shards failed. It is retried. */
  | { kind: 'sharing-failed'; error: unknown }
  /** A renewal, or sharing the shards, has succeeded after it had failed. */
  | { kind: 'loop-resumed'; loop: 'lease' | 'sharing' | 'freezes' }
  /** A freeze of accounts could not be acknowledged. It is retried. */
  | { kind: 'freeze-unacknowledged'; error: unknown };

/** Events of fan-out for logs and metrics. Alarms need an operator. */
export type FanOutEvent =
  /** A round was written. */
  | {
      readonly kind: 'fanned-out';
      readonly round: RoundKind;
      readonly entries: number;
      readonly deliveries: number;
      /** Deliveries that failed because they could not be rendered. Included in `deliveries`. */
      readonly failed: number;
    }
  | { readonly kind: 'fan-out-unavailable'; readonly call: FanOutCall; readonly error: unknown }
  /** A call has succeeded after `fan-out-unavailable`. `fanned-out` says so of rounds. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'discover' | 'unblock' | 'change' }
  /** A row was locked for longer than the lock timeout. The account waits until it is unlocked. */
  | { readonly kind: 'fan-out-locked'; readonly account: AccountId }
  /** Entries of a round were deleted meanwhile, by a write of unknown outcome or by retention. The others are read again. */
  | { readonly kind: 'fan-out-stale'; readonly entries: number }
  /** Blocked entries can be fanned out now. */
  | { readonly kind: 'entries-unblocked'; readonly account: AccountId; readonly count: number }
  | FanOutAlarm;

export type FanOutAlarm =
  /**
   * This build does not know the type, or the version that subscriptions of the account pin. The entries wait for a build
   * that does, or until the subscriptions no longer pin it. Raised once for each account and type.
   */
  | { readonly kind: 'entries-blocked'; readonly alarm: true; readonly account: AccountId; readonly eventType: string }
  /** An event could not be rendered at one version. The deliveries to the subscriptions that pin the version failed. */
  | {
      readonly kind: 'rendering-failed';
      readonly alarm: true;
      readonly event: EventId;
      readonly eventType: string;
      readonly version: string;
      readonly error: unknown;
    }
  /** The entry was claimed five times by workers that died. Its deliveries failed. */
  | { readonly kind: 'entry-given-up'; readonly alarm: true; readonly event: EventId; readonly claims: number }
  /** The event does not exist, or belongs to another account than its entry. The entry is deleted. */
  | { readonly kind: 'event-missing'; readonly alarm: true; readonly event: EventId; readonly account: AccountId }
  /** The database refused what this entry leads to. It is blocked and retried after a minute. */
  | {
      readonly kind: 'entry-refused';
      readonly alarm: true;
      readonly account: AccountId;
      readonly event: EventId | null;
      readonly error: unknown;
    }
  /** A change of a subscription could not be applied. It is retried after a minute. */
  | {
      readonly kind: 'change-failed';
      readonly alarm: true;
      readonly subscription: SubscriptionId;
      readonly error: unknown;
    }
  /** The worker was declared dead. Fan-out has dropped all entries. */
  | { readonly kind: 'fan-out-fenced'; readonly alarm: true };

/** `isolated`: one entry, because it may end the process. */
export type RoundKind = 'express' | 'bulk' | 'isolated';

/** `prepare` and `check` are repeated, and hold nothing up. */
export type FanOutCall = 'prepare' | 'check' | 'discover' | 'round' | 'change' | 'unblock';

export type OnFanOutEvent = (event: FanOutEvent) => void;
