import { findEventType, webhookEventTypes } from '@deedwire/webhook-events';
import { isRetired } from '../is-retired.ts';

/** The versions of an event type that can be pinned, oldest first; none of a type that this build does not know. */
export function pinnableEventVersions(type: string, now: Date): string[] {
  const versions = findEventType(type)?.versions ?? [];
  return versions.filter((known) => !isRetired(known, now)).map(({ version }) => version);
}

/** Every version of every event type that has come to its end: who still pins it is paused. */
export function retiredEventVersions(now: Date): { type: string; version: string }[] {
  return webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}
