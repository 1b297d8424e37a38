import type { LayoutWithPayloads } from '@deedwire/layout';
import { compact, isOwnEvent } from '../event-versions.ts';
import { banner, type Generated } from '../generated.ts';
import { commonFolder, docsFolder } from '../platform-folders.ts';
import { withRegions } from '../region.ts';
import { asyncApiDocument } from './asyncapi-document.ts';
import { areFixturesFrozen, derivedFixturesOf } from './derived-fixtures.ts';
import { registrySource, schemaOutputSource, schemasSource } from './event-list.ts';
import { type EventType, readEventTypes, readOwnEventTypes } from './event-types.ts';
import { typedSchema } from './payload-schema.ts';
import { changeTable, kindTable } from './payloads-page.ts';
import { typeOfSchema } from './type-of-schema.ts';
import { type ValidatedPayload, validatorsSource } from './validators-source.ts';

const page = `${docsFolder}/payloads.md`;

/** The generated files of the package of payloads of a service, and the derived fixtures of its versions that are not released. */
export async function payloads(layout: LayoutWithPayloads): Promise<Generated> {
  const folder = layout.payloads;
  const eventTypes = await readEventTypes(layout);
  const texts = await payloadFiles(layout, eventTypes, layout.interfaceNames);
  const fixtures = fixturesOf(
    folder,
    eventTypes.filter(({ type }) => !isOwnEvent(type)),
  );
  return {
    files: new Map([...inFolder(folder, texts), ...fixtures.files]),
    folders: ['asyncapi', 'json-schema', 'src/generated', 'test/generated'].map((path) => `${folder}/${path}`),
    stale: fixtures.stale,
  };
}

/**
 * The generated files of `webhook-contract`, which has the events of the platform only, the derived fixtures of their versions that are not
 * released, and the tables of `docs/payloads.md`.
 */
export async function ownPayloads({ payloads: folder }: LayoutWithPayloads): Promise<Generated> {
  const eventTypes = await readOwnEventTypes();
  const fixtures = fixturesOf(folder, eventTypes);
  return {
    files: new Map([
      ...inFolder(commonFolder, await sourceFiles(eventTypes, [])),
      ...fixtures.files,
      [page, withRegions(page, { kinds: await kindTable(), changes: changeTable() })],
    ]),
    folders: [`${commonFolder}/src/generated`],
    stale: fixtures.stale,
  };
}

function inFolder(folder: string, texts: ReadonlyMap<string, string>): [path: string, text: string][] {
  return Array.from(texts, ([path, text]) => [`${folder}/${path}`, text]);
}

/** @param folder the package of payloads that publishes them */
function fixturesOf(folder: string, eventTypes: readonly EventType[]) {
  const derived = eventTypes.flatMap(({ type, versions }) =>
    versions
      .filter(({ version }) => !areFixturesFrozen(folder, type, version))
      .map((version) => derivedFixturesOf(folder, type, version)),
  );
  return {
    files: derived.flatMap(({ fixtures }) =>
      Array.from(fixtures, ([path, fixture]) => [path, jsonOf(fixture)] as const),
    ),
    stale: derived.flatMap(({ stale }) => stale),
  };
}

/** Returns the text of every generated file of a package of payloads, keyed by its path there. */
export async function payloadFiles(
  service: Pick<LayoutWithPayloads, 'names' | 'payloads'>,
  eventTypes: readonly EventType[],
  interfaces: readonly string[],
): Promise<Map<string, string>> {
  const files = await sourceFiles(eventTypes, interfaces);
  for (const { type, versions } of eventTypes)
    for (const { version, schema } of versions) files.set(`json-schema/${type}/${version}.json`, jsonOf(schema));
  for (const name of interfaces) {
    const own = eventTypes.filter((eventType) => eventType.interfaces.includes(name));
    files.set(`asyncapi/${name}.json`, jsonOf(asyncApiDocument(service, name, own)));
  }
  files.set('test/generated/schema-output.ts', schemaOutputSource(eventTypes));
  return files;
}

/**
 * The code. `WebhookEvent` and the validators contain every version that is not retired: a receiver with a handler for a retired version
 * no longer compiles.
 *
 * @param interfaces empty if they are not known
 */
async function sourceFiles(
  eventTypes: readonly EventType[],
  interfaces: readonly string[],
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const validated: ValidatedPayload[] = [];
  for (const { type, versions } of eventTypes) {
    for (const { version, status, body, schema } of versions) {
      const typeName = `${schema.title}${compact(version)}`;
      const typeImport = `import type { ${schema.title} as ${typeName} } from './payloads/${type}/${version}.ts';`;
      if (status !== 'retired') validated.push({ type, version, body, typeName, typeImport });
      files.set(`src/generated/payloads/${type}/${version}.ts`, await typeOfSchema(typedSchema(body)));
    }
  }
  files.set(
    'src/generated/interface-name.ts',
    `${banner}\n/** The GraphQL interface on which an event type is available for subscription. */\nexport type InterfaceName = ${interfaces.map((name) => `'${name}'`).join(' | ') || 'string'};\n`,
  );
  files.set('src/generated/registry.ts', registrySource(eventTypes));
  files.set('src/generated/schemas.ts', schemasSource(eventTypes));
  files.set(
    'src/generated/webhook-event.ts',
    `${banner}\n${validated.map(({ typeImport }) => typeImport).join('\n')}\n\n` +
      '/**\n * The body of a delivery, at every version that this release supports. Compare `type`, then `version`, to narrow it.\n */\n' +
      `export type WebhookEvent =\n  | ${validated.map(({ typeName }) => typeName).join('\n  | ')};\n`,
  );
  files.set('src/generated/validators.ts', validatorsSource(validated));
  return files;
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
