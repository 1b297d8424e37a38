import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Seeding } from '@deedwire/dev-environment/test/firm/harness';
import { missing } from '@deedwire/testing';
import type { Actions } from '../../support/client-accounts.ts';
import { succeed } from '../../support/command.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

/** An installed checkout of a release of this workspace. */
export interface Release {
  folder: string;
  /** Applies the migrations of the release, and registers its service. */
  migrate(databaseUrl: string): Promise<unknown>;
  /** Its code that writes the first rows: that of this build can need columns that the release does not have. */
  seeding(): Promise<Seeding>;
  actions(): Promise<Actions>;
  /** Builds its apps. */
  build(): Promise<unknown>;
  remove(): Promise<void>;
}

/** In a release from before the demonstration had its own folder, it is the second one. */
const seedFiles = ['tools/dev-environment/src/firm/seed.ts', 'tools/dev-environment/src/seed.ts'];
const migrationsPath = 'packages/store/migrations';
// Only a release writes it.
const changelog = 'apps/webhook-worker/CHANGELOG.md';

/**
 * Checks out the previous release.
 *
 * @param isBeforeMigration it is the last one without the newest migration of this build, if there is one: a database of it is
 * migrated when this build is deployed
 * @throws {Error} without the commits of the previous releases, as in a shallow clone
 */
export async function checkOutLastRelease({ isBeforeMigration = false } = {}): Promise<Release> {
  const commit = await findRelease(isBeforeMigration);
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-release-'));
  const archive = join(folder, 'release.tar');
  await succeed('git', ['archive', '--output', archive, commit], { cwd: workspaceRoot });
  await succeed('tar', ['-xf', archive], { cwd: folder });
  await rm(archive);
  const manifest: { packageManager: string } = JSON.parse(await succeed('cat', ['package.json'], { cwd: folder }));
  // A hash may follow the version, which npx does not understand.
  const [packageManager = ''] = manifest.packageManager.split('+');
  const pnpm = (...args: string[]): Promise<string> => succeed('npx', ['-y', packageManager, ...args], { cwd: folder });
  await pnpm('install', '--frozen-lockfile', '--prefer-offline');
  const load = (path: string) => import(pathToFileURL(join(folder, path)).href);
  return {
    folder,
    async migrate(databaseUrl) {
      const { migrate } = await load('packages/store/src/index.ts');
      const { firm } = await load('packages/firm/src/index.ts');
      return migrate(databaseUrl, firm);
    },
    async seeding() {
      const { createStore } = await load('packages/store/src/index.ts');
      const seed = seedFiles.find((file) => existsSync(join(folder, file))) ?? missing();
      return { ...(await load(seed)), createStore };
    },
    actions: () => load('packages/actions/src/index.ts'),
    // Without git, turbo reads all files of the dependencies.
    build: () => pnpm('--recursive', '--filter-prod={./apps/*}...', 'run', 'build'),
    remove: () => rm(folder, { recursive: true }),
  };
}

async function findRelease(isBeforeMigration: boolean): Promise<string> {
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
