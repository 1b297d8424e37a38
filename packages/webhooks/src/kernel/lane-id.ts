import type { AccountId, SubscriptionId } from './ids.ts';

/** Identifies a lane, which sends the deliveries of one subscription, and its account. */
export interface LaneId {
  readonly subscriptionId: SubscriptionId;
  readonly accountId: AccountId;
}
