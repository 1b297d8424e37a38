import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appendOnlyOf, contractsAt } from './contract-files.ts';
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
    const names = servedBy(join(root, each.path));
    const apps = packages.filter(({ name }) => names.includes(name));
    const serving = await Promise.all(apps.map(async (app) => tag.includes(app) || servesSince(root, app, each)));
    if (apps.length > 0 && !serving.includes(true)) unserved.push(each.name);
  }
  return unserved;
}

/** Whether the contract at the tag of an app is the current one. API reports are served by no app. */
async function servesSince(root: string, app: WorkspacePackage, of: WorkspacePackage): Promise<boolean> {
  const appendOnly = appendOnlyOf(join(root, of.path));
  const [then, now] = await Promise.all(
    [tagOf(app), 'HEAD'].map((commit) => contractsAt(root, commit, of.path, appendOnly)),
  );
  const paths = [...new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])])].filter(
    (path) => !path.startsWith('api/'),
  );
  return paths.every((path) => then?.get(path) === now?.get(path));
}

/** `contractCheck.servedBy` in `package.json`. */
function servedBy(packageFolder: string): string[] {
  const file = join(packageFolder, 'package.json');
  if (!existsSync(file)) return [];
  const { contractCheck }: { contractCheck?: { servedBy?: string[] } } = JSON.parse(readFileSync(file, 'utf8'));
  return contractCheck?.servedBy ?? [];
}
