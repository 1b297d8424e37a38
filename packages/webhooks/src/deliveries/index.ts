export { adviceFor } from './attempt-advice.ts';
export { type AttemptRow, type AttemptsPage, selectAttempts } from './attempts.ts';
export {
  type DeliveryFilter,
  selectDeliveries,
  selectDeliveriesById,
  selectDeliveriesOfAllAccounts,
  selectDelivery,
} from './deliveries.ts';
export { type Delay, delayReasons } from './delay.ts';
export { selectDelays } from './delays.ts';
export { type AttemptKey, type ExchangeRow, selectExchanges, selectResponseBodies } from './exchanges.ts';
export { selectDeliveriesOfType } from './deliveries-of-type.ts';
export { selectDeliveriesOfEach, type SubscriptionPage } from './deliveries-of-each.ts';
export { selectShownPayloads } from './payloads.ts';
export { AttemptFollower, type Followed, type FollowedAttemptRow } from './followed-attempts.ts';
export { type DeliveryRow, type DeliveryStatus } from './delivery-row.ts';
export { type ShownAttemptError, shownAttemptErrors, toShownAttemptError } from './shown-attempt-error.ts';
