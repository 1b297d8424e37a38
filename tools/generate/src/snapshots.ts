import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EventDefinition, snapshotSchema } from '@deedwire/core';
import type { LayoutWithPayloads } from '@deedwire/layout';
import { identifierOf, isOwnEvent, readEventVersions } from './event-versions.ts';
import { type Generated, notice } from './generated.ts';
import { workspaceRoot } from './workspace-files.ts';

/** The JSON Schema of the snapshot of each event of the service, with which a program in any language checks what it appends. */
export async function snapshots({ root, events, payloads }: LayoutWithPayloads): Promise<Generated> {
  const folder = join(root, 'snapshots');
  const files = new Map<string, string>();
  for (const { type } of readEventVersions(payloads).filter((event) => !isOwnEvent(event.type))) {
    const path = join(events, type, 'event.ts');
    const module: Record<string, EventDefinition> = await import(pathToFileURL(join(workspaceRoot, path)).href);
    const event = module[identifierOf(type, '')];
    if (event === undefined) throw new Error(`${path} must export ${identifierOf(type, '')}.`);
    const { $schema, ...schema } = { $schema: '', ...snapshotSchema(event) };
    const $comment = `${notice} The source is ${path.slice(root.length + 1)}.`;
    files.set(
      join(folder, `${type}.json`),
      `${JSON.stringify({ $schema, $comment, title: type, ...schema }, null, 2)}\n`,
    );
  }
  return { files, folders: [folder] };
}
