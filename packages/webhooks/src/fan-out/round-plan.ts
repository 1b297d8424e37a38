import type { InterfaceName } from '@deedwire/core';
import type { AccountId, EventId, SubscriptionId } from '../kernel/ids.ts';
import type { QueuedAccount, QueueEntry } from './queued-account.ts';
import type { StoredEvent } from './renderer.ts';

/** An entry with its account. */
export interface PickedEntry {
  readonly account: QueuedAccount;
  readonly entry: QueueEntry;
}

/** A subscription that receives deliveries in a round. */
export interface PlannedSubscription {
  /** In `RoundPlan.subscriptions`. */
  readonly index: number;
  readonly id: SubscriptionId;
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly isPaused: boolean;
  /** Its deliveries are stored, and never pending. */
  readonly isListener: boolean;
  /** The number of its deliveries in the round. */
  count: number;
}

/** The body of an event at one version. */
export interface PlannedPayload {
  readonly event: StoredEvent;
  readonly version: string;
  readonly body: Buffer;
}

export interface PlannedDelivery {
  readonly subscription: PlannedSubscription;
  /** From 1, among the deliveries of the subscription in the round. */
  readonly ordinal: number;
  readonly event: StoredEvent;
  readonly version: string;
  /** Null: the delivery has failed. */
  readonly payload: PlannedPayload | null;
  /** The entry is for this subscription only, so an earlier round may have stored the payload. */
  readonly isTargeted: boolean;
}

/**
 * An event that is queued again for one subscription, as a blocked entry, because this build does not know the version that
 * the subscription pins.
 */
export interface DeferredEntry {
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly eventId: EventId;
  readonly subscriptionId: SubscriptionId;
  readonly eventType: string;
}

/** `blockedOn`: see BlockedGroup. */
export interface BlockedEntry extends PickedEntry {
  readonly blockedOn: string;
}

/** The content of one write. */
export interface RoundPlan {
  /** Entries to delete: the plan contains everything that follows from them. */
  readonly done: readonly PickedEntry[];
  readonly subscriptions: readonly PlannedSubscription[];
  readonly deliveries: readonly PlannedDelivery[];
  readonly payloads: readonly PlannedPayload[];
  readonly deferred: readonly DeferredEntry[];
  /** Entries that stay in storage until they are unblocked. */
  readonly blocked: readonly BlockedEntry[];
  /** Entries that do not fit into the round. */
  readonly leftOver: readonly PickedEntry[];
}
