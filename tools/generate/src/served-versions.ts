import { interfaceNames } from '@deedwire/firm/interfaces';
import {
  compact,
  folderOfEvent,
  identifierOf,
  isOwnEvent,
  readEventVersions,
  readInterfaceVersions,
  requireFile,
} from './event-versions.ts';
import { banner, type Generated, literalOf } from './generated.ts';

const generatedOfOwn = 'packages/core/src/generated';
const generatedOfFirm = 'packages/firm/src/generated';

/**
 * The lists of events in `core` and `firm` with their renderers, and the lists of schemas in the APIs, with one entry for each version that is not retired.
 * And the versions of each interface, for `firm`.
 */
export function servedVersions(): Generated {
  const files = new Map([
    [`${generatedOfOwn}/own-events.ts`, eventsSource(true)],
    [`${generatedOfFirm}/events.ts`, eventsSource(false)],
    [`${generatedOfFirm}/interface-versions.ts`, interfaceVersionsSource()],
    ...interfaceNames.map((name) => [`apps/${name}-api/src/generated/schemas.ts`, schemasSource(name)] as const),
  ]);
  return {
    files,
    folders: [generatedOfOwn, generatedOfFirm, ...interfaceNames.map((name) => `apps/${name}-api/src/generated`)],
  };
}

/** @param isOwn of the platform, otherwise of the law firm */
function eventsSource(isOwn: boolean): string {
  const imports: string[] = [];
  const entries: string[] = [];
  const folder = isOwn ? 'own-events' : 'events';
  for (const { type, versions } of readEventVersions().filter((each) => isOwnEvent(each.type) === isOwn)) {
    const rendered = versions.filter(({ status }) => status !== 'retired').map(({ version }) => version);
    const name = identifierOf(type, '');
    imports.push(`import { ${name} } from '../${folder}/${type}/event.ts';\n`);
    for (const version of rendered) {
      requireFile(`${folderOfEvent(type)}/${version}.ts`, type, version);
      imports.push(`import { render as ${identifierOf(type, version)} } from '../${folder}/${type}/${version}.ts';\n`);
    }
    const byVersion = rendered.map((version) => `'${version}': ${identifierOf(type, version)}`);
    entries.push(`  withRenderers(${name}, { ${byVersion.join(', ')} }),\n`);
  }
  const ofRenderers = isOwn
    ? "import { type RenderedEvent, withRenderers } from '../event.ts';\n"
    : "import type { RenderedEvent } from '@deedwire/core';\n";
  if (!isOwn) imports.push("import { withRenderers } from '../with-renderers.ts';\n");
  return `${banner}
${ofRenderers}${imports.join('')}
/** The events of the ${isOwn ? 'platform' : 'law firm'}, ordered by type. */
export const ${isOwn ? 'ownEvents' : 'events'}: readonly RenderedEvent[] = [
${entries.join('')}];
`;
}

function interfaceVersionsSource(): string {
  const lists = interfaceNames.map((name) => {
    const versions = readInterfaceVersions(`packages/${name}-schema`);
    return `  ${/-/.test(name) ? `'${name}'` : name}: [\n${versions.map((each) => `    ${literalOf(each)},\n`).join('')}  ],\n`;
  });
  return `${banner}
/** Every version of each interface, oldest first. */
export const interfaceVersions = {
${lists.join('')}} as const;
`;
}

function schemasSource(interfaceName: string): string {
  const served = readInterfaceVersions(`packages/${interfaceName}-schema`).filter(({ status }) => status !== 'retired');
  const dates = served.map(({ version }) => version);
  return `${banner}
import type { GraphQLSchema } from 'graphql';
${dates.map((date) => `import { createSchema as createSchema${compact(date)} } from '../versions/${date}.ts';\n`).join('')}
/** Version → its schema. */
export const schemas: ReadonlyMap<string, GraphQLSchema> = new Map([
${dates.map((date) => `  ['${date}', createSchema${compact(date)}()],\n`).join('')}]);
`;
}
