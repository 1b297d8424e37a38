import { webhookEventTypes } from '@deedwire/webhook-events';

import { isRetired } from '../is-retired.ts';

/** Every version of every event type that has come to its end: who still pins it is paused. */
export function retiredEventVersions(now: Date): { type: string; version: string }[] {
  return webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}
