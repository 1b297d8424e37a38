export {
  leaseLanes,
  renewLanes,
  selectDueDeliveries,
  selectNextLaneDue,
  type DueDeliveryRow,
  type LaneLease,
} from './webhooks/lanes.ts';
export {
  finishDeliveries,
  insertAttempts,
  lockHeldLanes,
  pauseGoneSubscriptions,
  refreshLanes,
  rescheduleDeliveries,
  type AttemptInput,
} from './webhooks/settle.ts';
