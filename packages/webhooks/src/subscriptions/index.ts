export { countHandshake, countTestEvent, deleteOldHandshakeCounts } from './handshake-counts.ts';
export {
  countSubscriptions,
  type EventTypePin,
  insertSubscription,
  type LockedSubscription,
  lockSubscription,
  lockSubscriptionsOfAccount,
  markSubscriptionDeleted,
  type PausedReason,
  pauseSubscriptionByOwner,
  reserveSubscriptionId,
  resumeSubscription,
  selectSubscription,
  selectSubscriptionOwner,
  selectSubscriptions,
  selectSubscriptionsById,
  type SubscriptionOwner,
  type SubscriptionRow,
  updateSubscriptionUrl,
} from './subscriptions.ts';
export { deleteEventTypePins, insertEventTypePins } from './event-type-pins.ts';
export { endRotations, rotateSecret } from './rotation.ts';
export { replaceSubscriptionSecrets, selectSubscriptionSecrets, type SubscriptionSecretRef } from './secrets.ts';
