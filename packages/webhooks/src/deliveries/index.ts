export { type ShownAttemptError, shownAttemptErrors, toShownAttemptError } from './shown-attempt-error.ts';
export { type DeliveryRow, type DeliveryStatus } from './delivery-row.ts';
export { selectAttempts, type AttemptRow } from './select-attempts.ts';
export { selectDeliveries, type DeliveryFilter } from './select-deliveries.ts';
export { selectDeliveriesOfAllAccounts } from './select-deliveries-of-all-accounts.ts';
export { selectDelivery } from './select-delivery.ts';
