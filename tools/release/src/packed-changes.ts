import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { git } from './git.ts';
import { pendingChangesets, readWorkspacePackages, type WorkspacePackage } from './plan.ts';

/** What no tarball contains of a package. */
const unpacked = /\/(?:test\/.*|.*\.test(?:-d)?\.tsx?|CHANGELOG\.md|tsconfig(?:\.build)?\.json|package\.json)$/;

/**
 * What has changed in the tarballs of composed packages since their versions were raised, if no changeset releases them: a sentence for each
 * package. Other packages contain what they are made of only, and their contracts are compared by `contract-check`.
 */
export async function findUndeclared(root: string): Promise<string[]> {
  const packages = readWorkspacePackages(root);
  const declared = await declaredPackages(root);
  const undeclared: string[] = [];
  for (const each of packages.filter(({ kind }) => kind === 'public')) {
    const { publishConfig } = readManifest(await readFile(join(root, each.path, 'package.json'), 'utf8'));
    if (publishConfig?.directory === undefined) continue;
    const copied = packages.filter(({ name, kind }) => kind !== 'public' && each.dependencies.includes(name));
    // They are exact dependencies, so a new version of one raises that of the package.
    if ([each, ...copied].some(({ name }) => declared.has(name))) continue;
    const changed = await changedSinceRelease(root, each, copied);
    if (changed.length > 0)
      undeclared.push(
        `${each.name}: these files are packed, and have changed since ${each.version}: ${changed.join(', ')}. Add a changeset for ${each.name}.`,
      );
  }
  return undeclared;
}

/** The packages that the pending changesets name. */
async function declaredPackages(root: string): Promise<Set<string>> {
  const texts = await Promise.all(
    pendingChangesets(root).map((name) => readFile(join(root, '.changeset', name), 'utf8')),
  );
  return new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/^['"]?(@[\w-]+\/[\w-]+)['"]?: (?:patch|minor|major)$/gm)].map(([, name = '']) => name),
    ),
  );
}

/** Paths of what differs in the tarball between the commit that raised the version and the working tree. */
async function changedSinceRelease(
  root: string,
  own: WorkspacePackage,
  copied: readonly WorkspacePackage[],
): Promise<string[]> {
  const log = ['log', '-1', '--format=%H', '-G^ *"version":', '--', `${own.path}/package.json`];
  const release = (await git(root, ...log)).trim();
  const folders = [own, ...copied].map(({ path }) => path);
  const diff = async (filter: string) =>
    (await git(root, 'diff', '--name-only', '--no-renames', `--diff-filter=${filter}`, '-z', release, '--', ...folders))
      .split('\0')
      .filter((path) => path !== '');
  const files = (await diff('ADMT'))
    .filter((path) => !unpacked.test(path))
    .filter((path) => !path.endsWith('/README.md') || path === `${own.path}/README.md`);
  const textAt = async (path: string) => [
    await git(root, 'show', `${release}:${path}`),
    await readFile(join(root, path), 'utf8'),
  ];
  const catalogs = await textAt('pnpm-workspace.yaml');
  const manifests: string[] = [];
  const added = await diff('A');
  for (const path of folders.map((folder) => `${folder}/package.json`)) {
    if (added.includes(path)) continue;
    const [before, now] = (await textAt(path)).map((text, index) => packedManifest(text, catalogs[index] ?? ''));
    if (before !== now) manifests.push(path);
  }
  return [...files, ...manifests];
}

interface Manifest {
  readonly publishConfig?: { readonly directory?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
}

const readManifest = (text: string): Manifest => JSON.parse(text);

/** What a tarball contains of a `package.json`, as far as a release does not write it. */
function packedManifest(text: string, workspace: string): string {
  const { catalog }: { catalog: Readonly<Record<string, string>> } = parse(workspace);
  const { dependencies = {}, ...kept }: Manifest = readManifest(text);
  const ranges = Object.entries(dependencies)
    .filter(([, range]) => !range.startsWith('workspace:'))
    .map(([name, range]) => [name, range === 'catalog:' ? catalog[name] : range]);
  const others = Object.entries(kept).filter(
    ([key]) => !['devDependencies', 'publishConfig', 'scripts', 'version'].includes(key),
  );
  return JSON.stringify([others, ranges]);
}
