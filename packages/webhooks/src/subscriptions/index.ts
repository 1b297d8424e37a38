export { countHandshake, deleteOldHandshakeCounts } from './handshake-counts.ts';
export {
  countSubscriptions,
  type EventTypePin,
  insertSubscription,
  type LockedSubscription,
  lockSubscription,
  lockSubscriptionsOfAccount,
  markSubscriptionDeleted,
  type PausedReason,
  reserveSubscriptionId,
  resumeSubscription,
  selectSubscription,
  selectSubscriptions,
  selectSubscriptionsById,
  subscriptionExists,
  type SubscriptionRow,
  updateSubscriptionUrl,
} from './subscriptions.ts';
export { deleteEventTypePins, insertEventTypePins } from './event-type-pins.ts';
export { replaceSubscriptionSecrets, selectSubscriptionSecrets } from './secrets.ts';
