/** The types of events that say how the deliveries of a subscription fare. */
export const alertTypes = [
  'webhook_delivery.failed',
  'webhook_subscription.disrupted',
  'webhook_subscription.paused',
  'webhook_subscription.recovered',
] as const;
