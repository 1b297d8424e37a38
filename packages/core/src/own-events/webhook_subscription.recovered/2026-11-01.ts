import type { Snapshot } from './event.ts';

export function render({ webhookSubscription: { id, name }, disruptedAt }: Snapshot) {
  return { webhookSubscription: { id, name }, disruptedAt };
}
