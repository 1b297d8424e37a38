import { join } from 'node:path';
import { isContractFile, settingsOf } from './contract-files.ts';
import { git } from './git.ts';
import { type ReleasePlan, tagOf, type WorkspacePackage } from './plan.ts';

/**
 * The packages to publish whose contract no released app serves: none of its apps is released now, and none was released
 * with the same contract.
 */
export async function findUnserved(
  root: string,
  { publish, tag }: ReleasePlan,
  packages: readonly WorkspacePackage[],
): Promise<string[]> {
  const unserved: string[] = [];
  for (const each of publish) {
    const { servedBy } = settingsOf(join(root, each.path));
    const apps = packages.filter(({ name }) => servedBy.includes(name));
    const serving = await Promise.all(apps.map(async (app) => tag.includes(app) || servesSince(root, app, each)));
    if (apps.length > 0 && !serving.includes(true)) unserved.push(each.name);
  }
  return unserved;
}

/** Whether the contract at the tag of an app is the current one. API reports are served by no app. */
async function servesSince(root: string, app: WorkspacePackage, { path }: WorkspacePackage): Promise<boolean> {
  const { appendOnly } = settingsOf(join(root, path));
  const diff = ['diff', '--name-only', '--no-renames', '-z', `--relative=${path}`, tagOf(app), 'HEAD'];
  const changed = (await git(root, ...diff)).split('\0');
  return !changed.some((file) => isContractFile(file, appendOnly) && !file.startsWith('api/'));
}
