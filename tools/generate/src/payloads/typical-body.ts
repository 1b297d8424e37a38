import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EventDefinition, formatGid, type RenderData, toRecordId } from '@deedwire/core';
import { identifierOf, isOwnEvent, type ListedVersion, requireFile, typicalBodyPath } from '../event-versions.ts';
import { ownEventsFolder } from '../platform-folders.ts';
import { readText, workspaceRoot } from '../workspace-files.ts';

/** The body of an event. */
export interface TypicalBody {
  readonly id: string;
  readonly type: string;
  readonly version: string;
  readonly timestamp: string;
  readonly data: object;
}

/** Where the events of a package of payloads are defined. */
export interface EventSources {
  /** The package of payloads. */
  readonly payloads: string;
  /** The events of the application. */
  readonly events: string;
  readonly gidNamespace: string;
}

/**
 * The example of a payload version: the sample of its event, as its renderer renders it. Of a retired version, which has no renderer, its
 * fixture.
 */
export async function typicalBodyOf(
  { payloads, events, gidNamespace }: EventSources,
  type: string,
  { version, status }: ListedVersion,
): Promise<TypicalBody> {
  if (status === 'retired') return JSON.parse(readText(typicalBodyPath(payloads, type, version)));
  const folder = `${isOwnEvent(type) ? ownEventsFolder : events}/${type}`;
  const load = <Module>(file: string): Promise<Module> =>
    import(pathToFileURL(join(workspaceRoot, requireFile(`${folder}/${file}.ts`, payloads, type, version))).href);
  const exported = await load<Readonly<Record<string, EventDefinition | undefined>>>('event');
  const { render } = await load<{ render: RenderData<object> }>(version);
  const name = identifierOf(type, '');
  const event = exported[name];
  if (event === undefined) throw new Error(`${folder}/event.ts must export \`${name}\`.`);
  const data = render(event.sample(gidNamespace));
  const id = formatGid(gidNamespace, 'WebhookEvent', toRecordId('123456'));
  // As it is sent: without what is undefined.
  return JSON.parse(JSON.stringify({ id, type, version, timestamp: '2026-11-03T09:30:00.123Z', data }));
}
