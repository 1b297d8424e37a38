import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { type ListedVersion, readEventVersions, requireFile } from '../event-versions.ts';
import { commonFolder } from '../platform-folders.ts';
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
 * Every event type of a package of payloads, ordered by name. Imports the payloads only: the other modules of the package import generated
 * files.
 *
 * @param folder of the package
 * @throws {Error} if a file is missing. The message names it.
 */
export async function readEventTypes(folder: string): Promise<EventType[]> {
  const list = `${folder}/event-types.json`;
  const audiences: Record<string, { interfaces: string[] } | undefined> = JSON.parse(readText(list));
  return await readTypes(folder, (type) => {
    const interfaces = audiences[type]?.interfaces;
    if (interfaces === undefined) throw new Error(`${list} lists no interfaces of ${type}.`);
    return interfaces;
  });
}

/** The event types of the platform, without interfaces: every one has them, whatever the application's are. */
export function readOwnEventTypes(): Promise<EventType[]> {
  return readTypes(commonFolder, () => []);
}

function readTypes(folder: string, interfacesOf: (type: string) => string[]): Promise<EventType[]> {
  return Promise.all(
    readEventVersions(folder).map(async ({ type, versions: listed }) => {
      const versions = await Promise.all(
        listed.map(async (version) => ({ ...version, ...(await readPayload(folder, type, version.version)) })),
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
