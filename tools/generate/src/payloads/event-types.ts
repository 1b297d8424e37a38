import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { eventsFolder, type ListedVersion, readEventVersions, requireFile } from '../event-versions.ts';
import type { PayloadSchema } from '../reference/event-page/payload-fields.ts';
import { readText, workspaceRoot } from '../workspace-files.ts';
import { publishedSchema } from './payload-schema.ts';
import { requireSupported } from './validators-source.ts';

export interface EventVersion extends ListedVersion {
  readonly body: z.ZodType;
  /** The published JSON Schema of the body. */
  readonly schema: PayloadSchema;
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
 * Every event type, ordered by name. Imports the payloads only: the other modules of `webhook-events` import generated files.
 *
 * @throws {Error} if a file is missing. The message names it.
 */
export async function readEventTypes(): Promise<EventType[]> {
  const audiences: Record<string, { interfaces: string[] } | undefined> = JSON.parse(
    readText(`${eventsFolder}/event-types.json`),
  );
  return await Promise.all(
    readEventVersions().map(async ({ type, versions: listed }) => {
      const versions = await Promise.all(
        listed.map(async (version) => ({ ...version, ...(await readPayload(type, version.version)) })),
      );
      const description = versions.at(-1)?.body.meta()?.description;
      const interfaces = audiences[type]?.interfaces;
      if (interfaces === undefined) throw new Error(`${eventsFolder}/event-types.json lists no interfaces of ${type}.`);
      if (description === undefined) throw new Error(`The payload of ${type} has no description in its meta().`);
      return { type, description, interfaces, versions };
    }),
  );
}

async function readPayload(type: string, version: string): Promise<Pick<EventVersion, 'body' | 'schema'>> {
  const source = `src/${type}/${version}.ts`;
  const path = requireFile(`${eventsFolder}/${source}`, type, version);
  const { body }: { body: z.ZodType } = await import(pathToFileURL(join(workspaceRoot, path)).href);
  requireSupported(type, version, body);
  return { body, schema: publishedSchema(body, source) };
}
