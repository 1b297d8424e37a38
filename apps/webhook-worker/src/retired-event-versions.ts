import { isRetired } from '@deedwire/domain';
import type { EventVersionRef } from '@deedwire/store/webhook-fan-out';
import { webhookEventTypes } from '@deedwire/webhook-events';

/** Every retired version of every event type. The worker pauses the subscriptions that pin one of them. */
export function retiredEventVersions(now: Date): EventVersionRef[] {
  return webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}
