import { eventVersion, type BodySchema, type WebhookEventType, type WebhookEventVersion } from './event-type.ts';
import { webhookEventTypes as registeredEventTypes } from './generated/registry.ts';
import { bodySchemas } from './generated/schemas.ts';

/** Every event type, ordered by name. */
export const webhookEventTypes: readonly WebhookEventType[] = registeredEventTypes.map((eventType) => ({
  ...eventType,
  versions: eventType.versions.map((version) => eventVersion(version, bodySchema(eventType.type, version.version))),
}));

function bodySchema(type: string, version: string): BodySchema {
  const body = bodySchemas.get(`${type}/${version}`);
  if (body === undefined) throw new TypeError(`src/generated/schemas.ts has no schema of ${type} at ${version}.`);
  return body;
}

/** Returns undefined if the event type does not exist. */
export function findEventType(type: string): WebhookEventType | undefined {
  return webhookEventTypes.find((eventType) => eventType.type === type);
}

/** Returns undefined if the event type does not exist or does not have this version. */
export function findEventVersion(type: string, version: string): WebhookEventVersion | undefined {
  return findEventType(type)?.versions.find((registered) => registered.version === version);
}
