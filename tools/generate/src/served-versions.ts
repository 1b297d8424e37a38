import { interfaceNames } from '@deedwire/domain';
import { identifierOf, compact, readEventVersions, readInterfaceVersions, requireFile } from './event-versions.ts';
import { banner, type Generated } from './generated.ts';

/**
 * The list of renderers in `webhook-rendering` and the lists of schemas in the APIs, with one entry for each version that is not retired.
 * And the versions of each interface, for `actions`.
 */
export function servedVersions(): Generated {
  const files = new Map([
    ['packages/webhook-rendering/src/generated/renderers.ts', renderersSource()],
    ['packages/actions/src/generated/interface-versions.ts', interfaceVersionsSource()],
    ...interfaceNames.map((name) => [`apps/${name}-api/src/generated/schemas.ts`, schemasSource(name)] as const),
  ]);
  return {
    files,
    folders: [
      'packages/webhook-rendering/src/generated',
      'packages/actions/src/generated',
      ...interfaceNames.map((name) => `apps/${name}-api/src/generated`),
    ],
  };
}

function renderersSource(): string {
  const imports: string[] = [];
  const entries: string[] = [];
  for (const { type, versions } of readEventVersions()) {
    const rendered = versions.filter(({ status }) => status !== 'retired').map(({ version }) => version);
    for (const version of rendered) {
      requireFile(`packages/webhook-rendering/src/${type}/${version}.ts`, type, version);
      imports.push(`import { render as ${identifierOf(type, version)} } from '../${type}/${version}.ts';\n`);
    }
    const byVersion = rendered.map((version) => `'${version}': ${identifierOf(type, version)}`);
    entries.push(`  '${type}': { ${byVersion.join(', ')} },\n`);
  }
  return `${banner}
import type { Renderers } from '../render-data.ts';
${imports.join('')}
/** The renderer of each version of each event type. */
export const renderers: Renderers = {
${entries.join('')}};
`;
}

function interfaceVersionsSource(): string {
  const lists = interfaceNames.map((name) => [name, `${identifierOf(name, '')}Versions`] as const);
  return `${banner}
import type { InterfaceName } from '@deedwire/domain';
${lists.map(([name, list]) => `import { versions as ${list} } from '@deedwire/${name}-schema';\n`).join('')}
/** Every version of each interface, oldest first. */
export const interfaceVersions = {
${lists.map(([name, list]) => `  ${/-/.test(name) ? `'${name}'` : name}: ${list},\n`).join('')}} satisfies Record<InterfaceName, unknown>;
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
