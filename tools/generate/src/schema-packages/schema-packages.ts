import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '@deedwire/layout';
import { runCodegen } from '../codegen.ts';
import { type ListedVersion, readInterfaceVersions } from '../event-versions.ts';
import { banner, literalOf, type Generated } from '../generated.ts';
import { costsOf, type Manifest, readManifest } from '../reference/manifest.ts';
import { fileExists, readText } from '../workspace-files.ts';

/** What the types of a client are made of. */
interface ClientVersion {
  readonly date: string;
  readonly sdl: string;
  readonly manifest: Pick<Manifest, 'errors'>;
}

interface Version extends ClientVersion {
  readonly listed: ListedVersion;
  readonly manifest: Manifest;
}

/** The code of the contract of each interface, from `versions.json` and the SDL and the manifest of each version. */
export async function schemaPackages({ interfaceNames, contractOf }: Layout): Promise<Generated> {
  const packages = await Promise.all(interfaceNames.map((name) => schemaPackage(name, contractOf(name))));
  return {
    files: new Map(packages.flatMap((files) => [...files])),
    folders: interfaceNames.map((name) => `${contractOf(name)}/src/generated`),
  };
}

async function schemaPackage(name: string, folder: string): Promise<Map<string, string>> {
  const versions = readVersions(folder);
  // What each module lists of the versions. The others are the same for every version.
  const modules = {
    abilities: versions.map(
      ({ date, manifest }) => `  ['${date}', ${indent(JSON.stringify(manifest.abilities, null, 2))}],\n`,
    ),
    costs: versions.map(
      ({ date, manifest }) => `  ['${date}', ${indent(JSON.stringify(costsOf(manifest), null, 2))}],\n`,
    ),
    manifest: [],
    sdl: versions.map(({ date, sdl }) => `  ['${date}', \`${sdl.replaceAll(/[\\`]|\$(?=\{)/g, String.raw`\$&`)}\`],\n`),
    'unknown-version-error': [],
    versions: versions.map(({ listed }) => `  ${literalOf(listed)},\n`),
  };
  // Only clients need types, and clients install a package.
  const types = fileExists(`${folder}/package.json`) ? await clientTypes(versions) : [];
  return new Map(
    [
      ...Object.entries(modules).map(([module, entries]) => [module, fromTemplate(module, name, entries)] as const),
      ...types,
    ].map(([module, text]) => [`${folder}/src/generated/${module}.ts`, text]),
  );
}

/** Oldest first. */
function readVersions(folder: string): Version[] {
  return readInterfaceVersions(folder).map((listed) => {
    const date = listed.version;
    const sdl = readText(`${folder}/versions/${date}.graphql`);
    return { date, listed, sdl, manifest: readManifest(`${folder}/versions/${date}.manifest.json`) };
  });
}

/** The types of each version, as a client uses them: date → module. */
export async function clientTypes(versions: readonly ClientVersion[]): Promise<Map<string, string>> {
  const texts = await runCodegen(import.meta.dirname, {
    generates: Object.fromEntries(versions.map(({ date, sdl }) => [date, { schema: sdl, plugins: ['typescript'] }])),
    config: {
      // Keep generated types in the order of the SDL.
      sort: false,
      // Output enums are open: a `switch` over one needs a default, while a misspelled value is still an error.
      enumsAsTypes: true,
      futureProofEnums: true,
      // A selected field is always present. An input field can be omitted.
      avoidOptionals: { field: true },
      inputMaybeValue: 'T | null | undefined',
      skipTypename: true,
      strictScalars: true,
      scalars: { ID: 'string', Date: 'string', DateTime: 'string', Long: 'number' },
    },
  });
  return new Map(
    versions.map(({ date, manifest }) => [date, `${banner}\n${texts.get(date) ?? ''}\n${errorCodeType(manifest)}`]),
  );
}

function errorCodeType({ errors }: ClientVersion['manifest']): string {
  const members = [...Object.keys(errors), '%future added value'].map((code) => `  | '${code}'`).join('\n');
  return `\n/** The \`extensions.code\` of an error. New codes can appear. */\nexport type ErrorCode =\n${members};\n`;
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

/** Copies a module of `template/`, with the name of the interface and one entry for each version. */
function fromTemplate(module: string, interfaceName: string, entries: readonly string[]): string {
  const text = readFileSync(join(import.meta.dirname, 'template', `${module}.ts`), 'utf8')
    .replaceAll('INTERFACE', interfaceName)
    .replace('  // VERSIONS\n', () => entries.join(''));
  // Without an empty line, a doc comment would seem to continue the banner.
  return `${banner}${text.startsWith('/**') ? '\n' : ''}${text}`;
}
