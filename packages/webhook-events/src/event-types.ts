import type { WebhookEventType, WebhookEventVersion } from './event-type.ts';
import { webhookEventTypes } from './generated/event-types.ts';

/** Returns undefined if the event type does not exist. */
export function findEventType(type: string): WebhookEventType | undefined {
  return webhookEventTypes.find((eventType) => eventType.type === type);
}

/** Returns undefined if the event type does not exist or does not have this version. */
export function findEventVersion(type: string, version: string): WebhookEventVersion | undefined {
  return findEventType(type)?.versions.find((eventVersion) => eventVersion.version === version);
}

/**
 * Returns the version that a subscription pins when it does not name one: the newest version with the status `current`.
 *
 * @throws {RangeError} when the event type does not exist, or none of its versions is `current`.
 */
export function currentVersion(type: string): string {
  const version = findEventType(type)
    ?.versions.filter(({ status }) => status === 'current')
    .at(-1);
  if (version === undefined)
    throw new RangeError(`The event type ${JSON.stringify(type)} does not exist or has no current version.`);
  return version.version;
}
