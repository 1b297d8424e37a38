import { existsSync, globSync } from 'node:fs';
import { cp, glob, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { workspaceRoot } from '@deedwire/checks';
import { parse } from 'yaml';
import { ReleaseError } from './release-error.ts';
import { type EntryPoint, typedEntryPoints } from './tarball.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, string | { readonly types?: string; readonly default?: string }>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly directory?: string };
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
 * Writes the folder of which a package is packed, its `publishConfig.directory`: its files, those of the private packages that it depends on,
 * in `private/`, and a `package.json` with the dependencies of all of them. Imports of private packages become relative: each resolver of a
 * bundler or of a release of TypeScript understands that.
 *
 * @param root the folder of the package in the workspace. It and the packages that it depends on are built
 * @throws {ReleaseError} if a package is not built, or does not export what another one imports
 */
export async function composePackage(root: string): Promise<void> {
  const manifest = await readManifest(root);
  const { directory } = manifest.publishConfig ?? {};
  if (directory === undefined) throw new ReleaseError(`${manifest.name} has no publishConfig.directory.`);
  const folder = join(root, directory);
  await rm(folder, { recursive: true, force: true });
  const parts = await withPrivateParts({ manifest, source: root, target: folder });
  for (const part of parts.values()) await copyFiles(part);
  await cp(join(root, 'README.md'), join(folder, 'README.md'));
  for (const part of parts.values()) await makeRelative(part, parts);
  const { devDependencies: _, publishConfig: __, scripts: ___, ...kept }: Record<string, unknown> = { ...manifest };
  await writeJson(join(folder, 'package.json'), {
    ...kept,
    files: [...(manifest.files ?? []), 'private'],
    ...publishedEntryPoints(manifest.exports ?? {}),
    dependencies: await publishedDependencies([...parts.values()]),
  });
}

/**
 * Writes the declarations of a package where they are packed, with those of the private packages that its entry points refer to.
 *
 * @param emit writes the declarations of a package into a folder
 * @returns the entry points that have types, with absolute paths
 */
export async function composeDeclarations(
  root: string,
  folder: string,
  emit: (root: string, target: string) => void,
): Promise<EntryPoint[]> {
  await rm(folder, { recursive: true, force: true });
  const own: Part = { manifest: await readManifest(root), source: root, target: folder };
  const parts = await withPrivateParts(own);
  const emitPart = async (part: Part): Promise<void> => {
    emit(part.source, join(part.target, 'dist'));
    await makeRelative(part, parts);
  };
  await emitPart(own);
  const paths = globSync('dist/**/*.d.ts', { cwd: folder });
  const entryPoints = typedEntryPoints(root, paths).map(({ name, declarations }) => {
    return { name, declarations: join(folder, declarations) };
  });
  const reached = new Set(entryPoints.map(({ declarations }) => declarations));
  for (const file of reached) {
    const part = [...parts.values()].find(({ target }) => file.startsWith(join(target, 'dist/')));
    if (part !== undefined && !existsSync(join(part.target, 'dist'))) await emitPart(part);
    for (const [, path = ''] of (await readFile(file, 'utf8')).matchAll(/\b(?:from|import) ?\(?'(\.[^']+)\.[jt]s'/g))
      reached.add(join(dirname(file), `${path}.d.ts`));
  }
  return entryPoints;
}

const readManifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));

const writeJson = (file: string, value: object): Promise<void> =>
  writeFile(file, `${JSON.stringify(value, null, 2)}\n`);

/**
 * By name: the package, and the private ones that it needs.
 *
 * @throws {ReleaseError} if the package does not list one of our packages that they need: a new version of it would not release the package
 */
async function withPrivateParts(own: Part): Promise<Map<string, Part>> {
  const parts = new Map([[own.manifest.name, own]]);
  for (const { manifest, source } of parts.values()) {
    for (const name of Object.keys(manifest.dependencies ?? {}).filter((each) => each.startsWith('@deedwire/'))) {
      if (!Object.hasOwn(own.manifest.dependencies ?? {}, name))
        throw new ReleaseError(
          `${own.manifest.name} contains ${manifest.name}, which needs ${name}. Add it to its dependencies.`,
        );
      if (parts.has(name)) continue;
      // Not the link: a `tsconfig.json` extends a file beside its folder.
      const sourceOfPart = await realpath(join(source, 'node_modules', name));
      const needed = await readManifest(sourceOfPart);
      if (needed.private === true)
        parts.set(name, {
          manifest: needed,
          source: sourceOfPart,
          target: join(own.target, 'private', name.replace('@deedwire/', '')),
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

/** With `main`, `types` and `typesVersions` for TypeScript with `moduleResolution: node10`, which ignores `exports`. */
function publishedEntryPoints(exports: NonNullable<Manifest['exports']>) {
  const { '.': main, ...others } = exports;
  const paths = Object.entries(others).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[path.replace('./', ''), [target.types]] as const],
  );
  return {
    ...(typeof main === 'object' && { main: main.default, types: main.types }),
    ...(paths.length > 0 && { typesVersions: { '*': Object.fromEntries(paths) } }),
    exports: withoutSources(exports),
  };
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
