import {
  defineEvent as define,
  type EventOptions,
  type PublicationOptions,
  type PublishedEvent,
  type PublishedVersion,
} from '@deedwire/core';
import { strict } from '@deedwire/webhook-contract/strict';
import { requireOwnSchema } from './own-schema.ts';

/**
 * Defines an event: the snapshot that the application appends, and each version of the payload that customers receive. What the schema of a
 * version does not have is never sent, at any depth.
 *
 * @param type `<noun>.<participle>`: `order.paid`
 * @throws {TypeError} if a schema is made by another copy of zod, or of a kind that a payload cannot have
 */
export function defineEvent<Snapshot extends object, Payloads>(
  type: string,
  options: EventOptions<Snapshot> & PublicationOptions<Snapshot, Payloads>,
): PublishedEvent<Snapshot> {
  requireOwnSchema(options.snapshot, `${type}: snapshot`);
  const versions = Object.entries<PublishedVersion<Snapshot, unknown>>(options.versions).map(([date, version]) => {
    const path = `${type} at ${date}: data`;
    requireOwnSchema(version.data, path);
    return [date, { ...version, data: strict(version.data, path) }] as const;
  });
  return define(type, { ...options, versions: Object.fromEntries(versions) });
}
