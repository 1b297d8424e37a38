export { insertDeliveries, insertPayloads, type DeliveryInput, type PayloadInput } from './webhooks/fan-out.ts';
export {
  countOutboxAlarms,
  markEventFailed,
  markEventsFannedOut,
  selectAccountsWithQueuedEvents,
  selectQueuedEvents,
  tryLockFanOut,
  type EventVersionRef,
  type KnownEventVersions,
  type QueuedEventRow,
} from './webhooks/queue.ts';
export { pauseRetiredSubscriptions, selectSubscriptionsPinning } from './webhooks/retired-versions.ts';
export { lockLanes } from './webhooks/subscription-lanes.ts';
