import type { Snapshot } from './event.ts';

export function render({ webhookSubscription: { id, name }, reason, pausedAt }: Snapshot) {
  return { webhookSubscription: { id, name }, reason, pausedAt };
}
