import type { AccountId, EventId, SubscriptionId } from '../kernel/ids.ts';

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
  | { readonly kind: 'loop-resumed'; readonly loop: 'discover' | 'unblock' }
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

export type FanOutCall = 'prepare' | 'discover' | 'round' | 'change' | 'unblock';

export type OnFanOutEvent = (event: FanOutEvent) => void;
