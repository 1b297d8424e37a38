import type { AttemptResult } from '@deedwire/webhook-sender';
import type { SubscriptionId } from '../kernel/ids.ts';
import type { PendingDelivery } from '../kernel/pending-delivery.ts';
import type { NextStep } from './classify-attempt.ts';
import type { PauseReason } from './storage.ts';

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

export type OnDispatchEvent = (event: DispatchEvent) => void;
