import type { InterfaceName } from '@deedwire/domain';
import type { AccountId, EventId, SubscriptionId } from '../ids.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { QueuedAccount } from './queued-account.ts';
import type { StoredEvent } from './renderer.ts';

/** An entry with its account. */
export interface PickedEntry {
  readonly account: QueuedAccount;
  readonly entry: QueueEntry;
}

/** A subscription that gets deliveries in a round. */
export interface PlannedSubscription {
  /** In `RoundPlan.subscriptions`. */
  readonly index: number;
  readonly id: SubscriptionId;
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly isPaused: boolean;
  /** How many deliveries it gets. */
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
  /** The entry was for this subscription only, so that another round may have stored the payload. */
  readonly isTargeted: boolean;
}

/** An event to fan out to a subscription later, because this build does not know the version that it pins. */
export interface DeferredEntry {
  readonly accountId: AccountId;
  readonly interfaceName: InterfaceName;
  readonly eventId: EventId;
  readonly subscriptionId: SubscriptionId;
}

export interface BlockedEntry extends PickedEntry {
  readonly eventType: string;
}

/** What one write does. */
export interface RoundPlan {
  /** Entries to delete, because everything that they ask for is in the plan. */
  readonly done: readonly PickedEntry[];
  readonly subscriptions: readonly PlannedSubscription[];
  readonly deliveries: readonly PlannedDelivery[];
  readonly payloads: readonly PlannedPayload[];
  readonly deferred: readonly DeferredEntry[];
  /** Entries that this build cannot fan out. */
  readonly blocked: readonly BlockedEntry[];
  /** Entries that do not fit into the round. */
  readonly leftOver: readonly PickedEntry[];
}
