import type { EventSnapshots } from '@deedwire/domain';

export function render({
  webhookSubscription: { id, name },
  reason,
  pausedAt,
}: EventSnapshots['webhook_subscription.paused']) {
  return { webhookSubscription: { id, name }, reason, pausedAt };
}
