import { isRetired } from '@deedwire/domain';
import { findEventType, webhookEventTypes } from '@deedwire/webhook-events';

/** The versions of an event type that a subscription can pin, oldest first. Empty if this build does not know the type. */
export function pinnableEventVersions(type: string, now: Date): string[] {
  const versions = findEventType(type)?.versions ?? [];
  return versions.filter((known) => !isRetired(known, now)).map(({ version }) => version);
}

/** Every retired version of every event type. The worker pauses the subscriptions that pin one. */
export function retiredEventVersions(now: Date): { type: string; version: string }[] {
  return webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}
