export { type AttemptRow, type AttemptsPage, selectAttempts } from './attempts.ts';
export { type DeliveryFilter, selectDeliveries, selectDeliveriesOfAllAccounts, selectDelivery } from './deliveries.ts';
export { selectDeliveriesOfType } from './deliveries-of-type.ts';
export { selectDeliveriesOfEach, type SubscriptionPage } from './deliveries-of-each.ts';
export { selectShownPayloads } from './payloads.ts';
export { type DeliveryRow, type DeliveryStatus } from './delivery-row.ts';
export { type ShownAttemptError, shownAttemptErrors, toShownAttemptError } from './shown-attempt-error.ts';
