import { existsSync } from 'node:fs';
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { workspaceRoot } from '@deedwire/checks';
import { parse } from 'yaml';
import { ReleaseError } from './release-error.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, string | { readonly default?: string }>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Part {
  readonly manifest: Manifest;
  /** Of the package in the workspace. */
  readonly source: string;
  /** Where its files are copied to. */
  readonly target: string;
}

/** In `from '…'`, `import '…'`, `import('…')` and `require.resolve('…')`, of code and of declarations. */
const specifiers = /(?<=\b(?:from|import|resolve) ?\(?)(['"])(@deedwire\/[^'"/]+)(\/[^'"]+)?\1/g;

/**
 * Writes the folder of which a package is packed: its files, those of the private packages that it depends on, in `private/`, and a
 * `package.json` with the dependencies of all of them. Imports of private packages become relative: each resolver of a bundler or of a release of
 * TypeScript understands that.
 *
 * @param root the folder of the package in the workspace. It and the packages that it depends on are built
 * @throws {ReleaseError} if a package is not built, or does not export what another one imports
 */
export async function composePackage(root: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const own: Part = { manifest: await readManifest(root), source: root, target: folder };
  const parts = await withPrivateParts(own, folder);
  for (const part of parts.values()) await copyFiles(part);
  for (const part of parts.values()) await makeRelative(part, parts);
  const { private: _private, ...kept }: Record<string, unknown> = { ...own.manifest };
  for (const key of ['devDependencies', 'publishConfig', 'scripts']) delete kept[key];
  await writeJson(join(folder, 'package.json'), {
    ...kept,
    files: [...(own.manifest.files ?? []), 'private'],
    exports: withoutSources(own.manifest.exports ?? {}),
    dependencies: await publishedDependencies([...parts.values()]),
  });
}

const readManifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));

const writeJson = (file: string, value: object): Promise<void> =>
  writeFile(file, `${JSON.stringify(value, null, 2)}\n`);

/** By name: the package, and the private ones that it needs. */
async function withPrivateParts(own: Part, folder: string): Promise<Map<string, Part>> {
  const parts = new Map([[own.manifest.name, own]]);
  for (const { manifest, source } of parts.values()) {
    for (const name of Object.keys(manifest.dependencies ?? {}).filter((each) => each.startsWith('@deedwire/'))) {
      if (parts.has(name)) continue;
      const sourceOfPart = join(source, 'node_modules', name);
      const needed = await readManifest(sourceOfPart);
      if (needed.private === true)
        parts.set(name, {
          manifest: needed,
          source: sourceOfPart,
          target: join(folder, 'private', name.replace('@deedwire/', '')),
        });
    }
  }
  return parts;
}

async function copyFiles({ manifest, source, target }: Part): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const path of manifest.files ?? []) {
    await cp(join(source, path), join(target, path), {
      recursive: true,
      dereference: true,
      filter: (file) => !file.endsWith('.map') && !isLeftOver(source, file),
    }).catch((cause: unknown) => {
      throw new ReleaseError(`${manifest.name} has no ${path}: build it first.`, { cause });
    });
  }
  const { name, version, engines } = manifest;
  await writeJson(join(target, 'package.json'), { name, version, private: true, type: 'module', engines });
}

/** Whether an earlier build wrote a file of a source that is no longer there: the compiler removes nothing. */
function isLeftOver(source: string, file: string): boolean {
  const [, module] = /^dist\/(.+?)(?:\.d\.ts|\.js)$/.exec(relative(source, file)) ?? [];
  return (
    module !== undefined &&
    existsSync(join(source, 'tsconfig.build.json')) &&
    !existsSync(join(source, 'src', `${module}.ts`))
  );
}

async function makeRelative({ target, manifest }: Part, parts: ReadonlyMap<string, Part>): Promise<void> {
  for await (const path of glob('dist/**/*.{js,d.ts}', { cwd: target })) {
    const file = join(target, path);
    const text = await readFile(file, 'utf8');
    const changed = text
      .replaceAll(/^\/\/# sourceMappingURL=.*\n?/gm, '')
      .replaceAll(specifiers, (whole, quote: string, name: string, subpath = '') => {
        const part = parts.get(name);
        if (part === undefined) return whole;
        const exported = part.manifest.exports?.[`.${subpath}`];
        const entry = typeof exported === 'object' ? exported.default : exported;
        if (entry === undefined)
          throw new ReleaseError(`${manifest.name} imports ${name}${subpath}, which ${name} does not export.`);
        const to = relative(dirname(file), join(part.target, entry));
        return `${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`;
      });
    if (changed !== text) await writeFile(file, changed);
  }
}

/** Without the condition that leads to sources. */
function withoutSources(exports: NonNullable<Manifest['exports']>) {
  return Object.fromEntries(
    Object.entries(exports).map(([path, target]) => {
      if (typeof target === 'string') return [path, target];
      const { 'deedwire-source': _source, ...published }: Record<string, unknown> = { ...target };
      return [path, published];
    }),
  );
}

/** What the registry must have: the packages of others, and our public ones. */
async function publishedDependencies(parts: readonly Part[]): Promise<Record<string, string>> {
  const workspace: unknown = parse(await readFile(join(workspaceRoot, 'pnpm-workspace.yaml'), 'utf8'));
  const catalog = new Map(Object.entries<string>(Object(workspace).catalog));
  const copied = new Set(parts.map(({ manifest }) => manifest.name));
  const entries: [name: string, range: string][] = [];
  for (const { manifest, source } of parts) {
    for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
      if (copied.has(name)) continue;
      if (range.startsWith('workspace:')) {
        const { version } = await readManifest(join(source, 'node_modules', name));
        entries.push([name, `^${version}`]);
      } else entries.push([name, range === 'catalog:' ? (catalog.get(name) ?? range) : range]);
    }
  }
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
