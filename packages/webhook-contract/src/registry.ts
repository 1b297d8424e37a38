/**
 * The registry of event types without the schemas of their payloads, so that it does not load zod. The main entry point has
 * the same registry with schemas.
 */
import { webhookEventTypes } from './generated/registry.ts';

export type { EventVersionStatus, InterfaceName, RegisteredEventType, RegisteredEventVersion } from './event-type.ts';
export { webhookEventTypes };

/**
 * Returns the version that a subscription pins when it does not name one: the newest version with the status `current`.
 *
 * @throws {RangeError} when the event type does not exist, or none of its versions is `current`.
 */
export function currentVersion(type: string): string {
  const version = webhookEventTypes
    .find((eventType) => eventType.type === type)
    ?.versions.filter(({ status }) => status === 'current')
    .at(-1);
  if (version === undefined)
    throw new RangeError(`The event type ${JSON.stringify(type)} does not exist or has no current version.`);
  return version.version;
}
