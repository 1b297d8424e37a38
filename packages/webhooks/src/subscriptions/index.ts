export { type ListenerId, type SubscriptionId, subscriptionIdOf } from '../kernel/ids.ts';
export {
  type AllSubscriptionsFilter,
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
  selectSubscriptionOfAnyAccount,
  selectSubscriptionOwner,
  selectSubscriptions,
  selectSubscriptionsById,
  selectSubscriptionsOfAllAccounts,
  selectSubscriptionState,
  type SubscriptionOfAccountRow,
  type SubscriptionOwner,
  type SubscriptionRow,
  type SubscriptionState,
  updateSubscriptionUrl,
} from './subscriptions.ts';
export {
  countListeners,
  deleteListener,
  deleteUnreadListeners,
  insertListener,
  type ListenerOfAccountRow,
  type ListenerRow,
  lockListener,
  noteListenerRead,
  selectListener,
  selectListenerOwner,
  selectListeners,
  selectListenersOfAllAccounts,
} from './listeners.ts';
export { deleteEventTypePins, insertEventTypePins } from './event-type-pins.ts';
export { countHandshake, countTestEvent, deleteOldLimitCounts } from './limit-counts.ts';
export { endRotations, rotateSecret } from './rotation.ts';
export { replaceSubscriptionSecrets, selectSubscriptionSecrets, type SubscriptionSecretRef } from './secrets.ts';
