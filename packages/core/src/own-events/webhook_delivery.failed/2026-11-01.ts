import type { Snapshot } from './event.ts';

export function render({ webhookSubscription: { id, name }, since, failedCount, webhookDeliveryIds }: Snapshot) {
  return { webhookSubscription: { id, name }, since, failedCount, webhookDeliveryIds };
}
