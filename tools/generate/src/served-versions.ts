import { identifierOf, compact, readEventVersions, readInterfaceVersions, requireFile } from './event-versions.ts';
import { banner, type Generated } from './generated.ts';

/** The list of renderers in `webhook-rendering` and the lists of schemas in both APIs: one entry for each version that is not retired. */
export function servedVersions(): Generated {
  const files = new Map([
    ['packages/webhook-rendering/src/generated/renderers.ts', renderersSource()],
    ['apps/lender-api/src/generated/schemas.ts', schemasSource('lender')],
    ['apps/partner-api/src/generated/schemas.ts', schemasSource('partner')],
  ]);
  return {
    files,
    folders: [
      'packages/webhook-rendering/src/generated',
      'apps/lender-api/src/generated',
      'apps/partner-api/src/generated',
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
