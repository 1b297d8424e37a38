import { isRetired } from '@deedwire/domain';
import { findEventType } from '@deedwire/webhook-events';

/** The versions of an event type that a subscription can pin, oldest first. Empty if this build does not know the type. */
export function pinnableEventVersions(type: string, now: Date): string[] {
  const versions = findEventType(type)?.versions ?? [];
  return versions.filter((known) => !isRetired(known, now)).map(({ version }) => version);
}
