import type { Snapshot } from './event.ts';

export function render({ webhookSubscription: { id, name }, failingSince, consecutiveFailures }: Snapshot) {
  return { webhookSubscription: { id, name }, failingSince, consecutiveFailures };
}
