import { join } from 'node:path';
import type { Layout } from '@deedwire/layout';
import {
  compact,
  identifierOf,
  isOwnEvent,
  type ListedVersion,
  readEventVersions,
  readInterfaceVersions,
  requireFile,
} from './event-versions.ts';
import { banner, type Generated, literalOf } from './generated.ts';
import { commonFolder, coreFolder, ownEventsFolder } from './platform-folders.ts';

/** The list of the platform's own events in `core`, with a renderer for each version that is not retired. */
export function ownEvents(): Generated {
  const generated = `${coreFolder}/src/generated`;
  const text = eventsSource({
    payloads: commonFolder,
    events: ownEventsFolder,
    types: readEventVersions(commonFolder),
    before: "import { type RenderedEvent, withRenderers } from '../event.ts';\n",
    after: '',
    of: 'platform',
    name: 'ownEvents',
  });
  return { files: new Map([[`${generated}/own-events.ts`, text]]), folders: [generated] };
}

/**
 * The list of the events of a service with their renderers, the lists of schemas of its apps, with one entry for each version that is not
 * retired, and the interfaces with their versions.
 */
export function servedVersions(layout: Layout): Generated {
  const { generated, interfaceNames, appOf, payloads, events } = layout;
  const files = new Map([
    [`${generated}/interfaces.ts`, interfacesSource(layout)],
    ...interfaceNames.map((name) => [`${appOf(name)}/generated/schemas.ts`, schemasSource(layout, name)] as const),
  ]);
  if (payloads !== null) {
    const text = eventsSource({
      payloads,
      events,
      types: readEventVersions(payloads).filter(({ type }) => !isOwnEvent(type)),
      before: "import type { RenderedEvent } from '@deedwire/core';\n",
      after: "import { withRenderers } from '../with-renderers.ts';\n",
      of: 'service',
      name: 'events',
    });
    files.set(`${generated}/events.ts`, text);
  }
  return { files, folders: [generated, ...interfaceNames.map((name) => `${appOf(name)}/generated`)] };
}

interface EventList {
  readonly payloads: string;
  /** The folder of the definitions. */
  readonly events: string;
  readonly types: readonly { type: string; versions: readonly ListedVersion[] }[];
  /** The imports before and after those of the events. */
  readonly before: string;
  readonly after: string;
  readonly of: string;
  readonly name: string;
}

function eventsSource({ payloads, events, types, before, after, of, name }: EventList): string {
  const imports: string[] = [];
  const entries: string[] = [];
  const folder = events.replace(/.*\//, '../');
  for (const { type, versions } of types) {
    const rendered = versions.filter(({ status }) => status !== 'retired').map(({ version }) => version);
    const identifier = identifierOf(type, '');
    imports.push(`import { ${identifier} } from '${folder}/${type}/event.ts';\n`);
    for (const version of rendered) {
      requireFile(join(events, type, `${version}.ts`), payloads, type, version);
      imports.push(`import { render as ${identifierOf(type, version)} } from '${folder}/${type}/${version}.ts';\n`);
    }
    const byVersion = rendered.map((version) => `'${version}': ${identifierOf(type, version)}`);
    entries.push(`  withRenderers(${identifier}, { ${byVersion.join(', ')} }),\n`);
  }
  return `${banner}
${before}${imports.join('')}${after}
/** The events of the ${of}, ordered by type. */
export const ${name}: readonly RenderedEvent[] = [
${entries.join('')}];
`;
}

function interfacesSource({ interfaceNames, contractOf }: Layout): string {
  const entries = interfaceNames.map((name) => {
    const versions = readInterfaceVersions(contractOf(name)).map((each) => `      ${literalOf(each)},\n`);
    const [key, own] = name.includes('-') ? [`'${name}'`, `own['${name}']`] : [name, `own.${name}`];
    return `  ${key}: {\n    ...${own},\n    versions: [\n${versions.join('')}    ],\n  },\n`;
  });
  return `${banner}
import { interfaces as own } from '../interfaces.ts';

/** The interfaces with every version of each, oldest first. */
export const interfaces = {
${entries.join('')}} as const;
`;
}

function schemasSource({ contractOf }: Layout, interfaceName: string): string {
  const served = readInterfaceVersions(contractOf(interfaceName)).filter(({ status }) => status !== 'retired');
  const dates = served.map(({ version }) => version);
  return `${banner}
import type { GraphQLSchema } from 'graphql';
${dates.map((date) => `import { createSchema as createSchema${compact(date)} } from '../versions/${date}.ts';\n`).join('')}
/** Version → its schema. */
export const schemas: ReadonlyMap<string, GraphQLSchema> = new Map([
${dates.map((date) => `  ['${date}', createSchema${compact(date)}()],\n`).join('')}]);
`;
}
