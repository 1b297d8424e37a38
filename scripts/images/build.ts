import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dirname } from 'node:path/posix';
import { appOf } from '../../packages/core/src/interfaces.ts';
import { workspaceRoot } from '../../tools/checks/src/run.ts';
import { readDefaultLayout } from '../../tools/layout/src/layout.ts';
import { run } from './command.ts';

const { interfaceNames, appOf: sourcesOf } = await readDefaultLayout();

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
}

export async function readBuild(): Promise<Build> {
  const commit = (await run('git', ['rev-parse', 'HEAD'])).trim();
  const changed = await run('git', ['status', '--porcelain', '--untracked-files=no']);
  const epoch = process.env['SOURCE_DATE_EPOCH'] ?? (await run('git', ['log', '-1', '--format=%ct']));
  const versions = Array.from(appFolders, async ([app, folder]): Promise<[string, string]> => {
    const { version } = JSON.parse(await readFile(join(workspaceRoot, folder, 'package.json'), 'utf8'));
    return [app, version];
  });
  const isModified = changed !== '';
  return {
    commit: isModified ? `${commit}-modified` : commit,
    isModified,
    epoch: Number(epoch),
    versions: Object.fromEntries(await Promise.all(versions)),
  };
}
