/** What other packages need to know to read the tables of the engine. */
export {
  type AccountId,
  type DeliveryId,
  type EventId,
  type ListenerId,
  type ReplayId,
  type SubscriptionId,
  subscriptionIdOf,
} from './kernel/ids.ts';
export { clockStep, daysOfExpired, type IdRange, idsPerDay, splitByDays, storedRange } from './kernel/ids.ts';
export { pgArray } from './kernel/sql.ts';
export { firstDueOfEach, isHome, isReceiverWell, markTime, mayBeMarked, secretColumns } from './kernel/sql.ts';
export { type PausedReason, pausedReasons } from './kernel/paused-reasons.ts';
export type { EventTypePin } from './subscriptions/read-pins.ts';
