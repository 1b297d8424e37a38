export {
  selectAttempts,
  selectDeliveries,
  selectDelivery,
  selectDeliveryOfAnyAccount,
  type AttemptRow,
  type DeliveryRow,
  type DeliveryStatus,
} from './webhooks/deliveries.ts';
