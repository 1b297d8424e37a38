import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PayloadSchema } from '@deedwire/core/payload-fields';
import type { LayoutWithPayloads } from '@deedwire/layout';
import type { z } from 'zod';
import { type ListedVersion, readEventVersions, requireFile } from '../event-versions.ts';
import { commonFolder, ownEventsFolder } from '../platform-folders.ts';
import { readText, workspaceRoot } from '../workspace-files.ts';
import { publishedSchema } from './payload-schema.ts';
import { type EventSources, type TypicalBody, typicalBodyOf } from './typical-body.ts';
import { requireSupported } from './validators-source.ts';

export interface EventVersion extends ListedVersion {
  readonly body: z.ZodType;
  /** The published JSON Schema of the body. */
  readonly schema: PayloadSchema;
  readonly typical: TypicalBody;
}

export interface EventType {
  readonly type: string;
  /** Of its newest version. */
  readonly description: string;
  readonly interfaces: readonly string[];
  /** Oldest first. */
  readonly versions: readonly EventVersion[];
}

/**
 * Every event type that a service publishes, ordered by name. Imports the payloads only of their package, whose other modules import
 * generated files, and the events with their renderers.
 *
 * @throws {Error} if a file is missing. The message names it.
 */
export async function readEventTypes({
  payloads,
  events,
  names: { gidNamespace },
}: Pick<LayoutWithPayloads, 'events' | 'names' | 'payloads'>): Promise<EventType[]> {
  const list = `${payloads}/event-types.json`;
  const audiences: Record<string, { interfaces: string[] } | undefined> = JSON.parse(readText(list));
  return await readTypes({ payloads, events, gidNamespace }, (type) => {
    const interfaces = audiences[type]?.interfaces;
    if (interfaces === undefined) throw new Error(`${list} lists no interfaces of ${type}.`);
    return interfaces;
  });
}

/** The event types of the platform, without interfaces: every one has them, whatever the application's are. */
export function readOwnEventTypes(): Promise<EventType[]> {
  return readTypes({ payloads: commonFolder, events: ownEventsFolder, gidNamespace: 'service' }, () => []);
}

function readTypes(sources: EventSources, interfacesOf: (type: string) => string[]): Promise<EventType[]> {
  return Promise.all(
    readEventVersions(sources.payloads).map(async ({ type, versions: listed }) => {
      const versions = await Promise.all(
        listed.map(async (version) => ({
          ...version,
          ...(await readPayload(sources.payloads, type, version.version)),
          typical: await typicalBodyOf(sources, type, version),
        })),
      );
      const description = versions.at(-1)?.body.meta()?.description;
      const interfaces = interfacesOf(type);
      if (description === undefined) throw new Error(`The payload of ${type} has no description in its meta().`);
      return { type, description, interfaces, versions };
    }),
  );
}

async function readPayload(
  folder: string,
  type: string,
  version: string,
): Promise<Pick<EventVersion, 'body' | 'schema'>> {
  const source = `src/${type}/${version}.ts`;
  const path = requireFile(`${folder}/${source}`, folder, type, version);
  const { body }: { body: z.ZodType } = await import(pathToFileURL(join(workspaceRoot, path)).href);
  requireSupported(type, version, body);
  return { body, schema: publishedSchema(body, source) };
}
