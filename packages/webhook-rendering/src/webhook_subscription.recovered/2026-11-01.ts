import type { EventSnapshots } from '@deedwire/domain';

export function render({
  webhookSubscription: { id, name },
  disruptedAt,
}: EventSnapshots['webhook_subscription.recovered']) {
  return { webhookSubscription: { id, name }, disruptedAt };
}
