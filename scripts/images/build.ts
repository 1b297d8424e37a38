import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appOf } from '../../packages/core/src/interfaces.ts';
import { interfaceNames } from '../../packages/firm/src/interfaces.ts';
import { workspaceRoot } from '../../tools/checks/src/run.ts';
import { run } from './command.ts';

export const appNames: readonly string[] = [...interfaceNames.map(appOf), 'webhook-worker', 'operator-cli'];

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
  const versions = appNames.map(async (app): Promise<[string, string]> => {
    const { version } = JSON.parse(await readFile(join(workspaceRoot, `apps/${app}/package.json`), 'utf8'));
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
