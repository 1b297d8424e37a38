import { isRetired } from '@deedwire/domain';
import { webhookEventTypes } from '@deedwire/webhook-events';
import type { EventTypePin } from '@deedwire/webhooks';

/** Every retired version of every event type. The worker pauses the subscriptions that pin one of them. */
export function retiredEventVersions(now: Date): EventTypePin[] {
  return webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}
