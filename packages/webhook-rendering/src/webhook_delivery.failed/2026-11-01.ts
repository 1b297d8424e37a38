import type { EventSnapshots } from '@deedwire/domain';

export function render({
  webhookSubscription: { id, name },
  since,
  failedCount,
  webhookDeliveryIds,
}: EventSnapshots['webhook_delivery.failed']) {
  return { webhookSubscription: { id, name }, since, failedCount, webhookDeliveryIds };
}
