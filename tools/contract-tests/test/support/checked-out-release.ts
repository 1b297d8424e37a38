import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { missing } from '@deedwire/testing';
import { succeed } from './command.ts';
import { workspaceRoot } from './workspace-copy.ts';

const migrationsPath = 'packages/store/migrations';

/**
 * Checks out the previous release of a package, with the whole workspace, and installs it.
 *
 * @param changelog the path of its changelog. Only a release writes it
 * @param isBeforeMigration it is the last one without the newest migration of this build, if there is one: a database of it is
 * migrated when this build is deployed
 * @throws {Error} without the commits of the previous releases, as in a shallow clone
 */
export async function checkOutRelease(changelog: string, { isBeforeMigration = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-release-'));
  await extract(await findRelease(changelog, isBeforeMigration), folder);
  const manifest: { packageManager: string } = JSON.parse(await succeed('cat', ['package.json'], { cwd: folder }));
  // A hash may follow the version, which npx does not understand.
  const [packageManager = ''] = manifest.packageManager.split('+');
  const pnpm = (...args: string[]): Promise<string> => succeed('npx', ['-y', packageManager, ...args], { cwd: folder });
  await pnpm('install', '--frozen-lockfile', '--prefer-offline');
  /** Imports a module of the release. */
  const load = (path: string) => import(pathToFileURL(join(folder, path)).href);
  /** Builds packages. Without git, turbo would read all files of the dependencies. */
  const build = (filter: string): Promise<string> => pnpm('--recursive', `--filter-prod=${filter}`, 'run', 'build');
  return {
    folder,
    load,
    build,
    /** Builds and packs a package. Resolves with the path of the tarball. */
    async pack(name: string): Promise<string> {
      const root = join(folder, 'packages', name.replace('@deedwire/', ''));
      const packed = await mkdtemp(join(folder, 'packed-'));
      const { private: isPrivate = false } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      if (isPrivate) {
        // The first release of @deedwire/service, which `pnpm pack` does not compose.
        await build(`${name}...`);
        const { composePackage } = await load('tools/release/src/index.ts');
        await composePackage(root, packed);
        await succeed('npm', ['pack'], { cwd: packed });
      } else await pnpm('--dir', root, 'pack', '--pack-destination', packed);
      const files = await readdir(packed);
      return join(packed, files.find((file) => file.endsWith('.tgz')) ?? missing());
    },
    remove: (): Promise<void> => rm(folder, { recursive: true }),
  };
}

/**
 * Writes a folder of the previous release of a package, as its commit has it.
 *
 * @param changelog as for `checkOutRelease`
 * @param path from the root of the workspace, where it is in `target` too
 */
export async function extractReleased(changelog: string, path: string, target: string): Promise<void> {
  await extract(await findRelease(changelog, false), target, path);
}

async function extract(commit: string, target: string, ...paths: readonly string[]): Promise<void> {
  const archive = join(target, 'release.tar');
  await succeed('git', ['archive', '--output', archive, commit, ...paths], { cwd: workspaceRoot });
  await succeed('tar', ['-xf', archive], { cwd: target });
  await rm(archive);
}

async function findRelease(changelog: string, isBeforeMigration: boolean): Promise<string> {
  const files = await readdir(join(workspaceRoot, migrationsPath));
  const newest =
    files
      .filter((file) => file.endsWith('.sql'))
      .toSorted()
      .at(-1) ?? missing();
  const log = await succeed('git', ['log', '--format=%H', '--', changelog], { cwd: workspaceRoot });
  const [last, ...earlier] = log.split('\n').filter((line) => line !== '');
  if (last === undefined)
    throw new Error('There is no commit of a release. Fetch the whole history: git fetch --unshallow');
  if (!isBeforeMigration) return last;
  for (const commit of [last, ...earlier]) {
    const tree = ['ls-tree', '-r', '--name-only', commit, migrationsPath];
    if (!(await succeed('git', tree, { cwd: workspaceRoot })).includes(newest)) return commit;
  }
  return last;
}
