import type { EventSnapshots } from '@deedwire/domain';

export function render({
  webhookSubscription: { id, name },
  failingSince,
  consecutiveFailures,
}: EventSnapshots['webhook_subscription.disrupted']) {
  return { webhookSubscription: { id, name }, failingSince, consecutiveFailures };
}
