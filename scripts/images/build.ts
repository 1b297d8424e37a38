import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dirname } from 'node:path/posix';
import { appOf } from '../../packages/core/src/interfaces.ts';
import { workspaceRoot } from '../../tools/checks/src/run.ts';
import { hasEntryFiles, readDefaultLayout } from '../../tools/layout/src/layout.ts';
import { CommandError, run } from './command.ts';

const layout = await readDefaultLayout();
const { interfaceNames, appOf: sourcesOf } = layout;

/** The folder of each app, by its name. */
const appFolders: ReadonlyMap<string, string> = new Map([
  ...interfaceNames.map((name) => [appOf(name), dirname(sourcesOf(name))] as const),
  ['webhook-worker', 'apps/webhook-worker'],
  ['operator-cli', 'apps/operator-cli'],
]);

export const appNames: readonly string[] = [...appFolders.keys()];

/** What the images say about their origin. */
export interface Build {
  /** The commit, with `-modified` if a tracked file differs from it. */
  commit: string;
  /** Whether `commit` names files that the next build may change. */
  isModified: boolean;
  /** The time of all files, in seconds. */
  epoch: number;
  /** Of each app. */
  versions: Readonly<Record<string, string>>;
  /** The name of the package of each app. */
  packages: Readonly<Record<string, string>>;
}

/** @throws {CommandError} if the apps of the service have no packages */
export async function readBuild(): Promise<Build> {
  if (!hasEntryFiles(layout))
    throw new CommandError(
      `The apps of ${layout.root} have no main.ts. Make each a package, and name their folders in deedwire.apps of its package.json.`,
    );
  const commit = (await run('git', ['rev-parse', 'HEAD'])).trim();
  const changed = await run('git', ['status', '--porcelain', '--untracked-files=no']);
  const epoch = process.env['SOURCE_DATE_EPOCH'] ?? (await run('git', ['log', '-1', '--format=%ct']));
  const manifests = await Promise.all(
    Array.from(appFolders, async ([app, folder]): Promise<{ app: string; name: string; version: string }> => {
      const { name, version } = JSON.parse(await readFile(join(workspaceRoot, folder, 'package.json'), 'utf8'));
      return { app, name, version };
    }),
  );
  const isModified = changed !== '';
  return {
    commit: isModified ? `${commit}-modified` : commit,
    isModified,
    epoch: Number(epoch),
    versions: Object.fromEntries(manifests.map(({ app, version }) => [app, version])),
    packages: Object.fromEntries(manifests.map(({ app, name }) => [app, name])),
  };
}
