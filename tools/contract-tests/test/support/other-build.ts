import { cpSync, globSync } from 'node:fs';
import { mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readDefaultLayout } from '@deedwire/generate';
import { succeed } from './command.ts';
import { workspaceRoot } from './workspace-copy.ts';

/** A workspace in which apps are built. */
export interface Build {
  folder: string;
  /** The file that names what an app of it can do. */
  contractsOf(app: string): string;
}

export function buildIn(folder: string): Build {
  return { folder, contractsOf: (app) => join(folder, `apps/${app}/dist/contracts.json`) };
}

const { root } = await readDefaultLayout();
const needed = '{package.json,versions.json,dist,json-schema,migrations,node_modules,versions}';
/** What `write-contracts.ts` reads beside that: where the parts of the service stand. */
const neededOnce = [
  'package.json',
  `${root}/src/{names,interfaces}.ts`,
  'scripts/write-contracts.ts',
  'tools/layout/{src,node_modules}',
];
const isNeeded = (file: string): boolean =>
  !['.bin', '.cache'].includes(basename(file)) && !/\.(map|d\.ts)$/.test(file);

/**
 * Copies what is built, changes it, and writes the contracts of the apps as `pnpm build` does. The apps and the changed packages get
 * other versions.
 *
 * @param parent the folder in which the copy is created
 * @param changes by path. A file that does not exist is empty before.
 */
export async function changeBuild(
  parent: string,
  apps: readonly string[],
  changes: Readonly<Record<string, (text: string) => string>>,
): Promise<Build> {
  const folder = await mkdtemp(join(parent, 'build-'));
  await symlink(join(workspaceRoot, 'node_modules'), join(folder, 'node_modules'));
  const appFolders = apps.map((app) => `apps/${app}`);
  const copied = globSync([...['packages/*', ...appFolders].map((path) => `${path}/${needed}`), ...neededOnce], {
    cwd: workspaceRoot,
  });
  for (const path of copied)
    // Takes half of the time of `cp` of promises.
    cpSync(join(workspaceRoot, path), join(folder, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: isNeeded,
    });
  async function edit(path: string, change: (text: string) => string): Promise<void> {
    const file = join(folder, path);
    const text = await readFile(file, 'utf8').catch(() => '');
    const changed = change(text);
    if (changed === text) throw new Error(`The edit does not change ${path}.`);
    await writeFile(file, changed);
  }
  for (const [path, change] of Object.entries(changes)) await edit(path, change);
  const changed = Object.keys(changes).map((path) => path.split('/', 2).join('/'));
  for (const path of new Set([...changed, ...appFolders]))
    await edit(`${path}/package.json`, (text) => text.replace(/"version": "[^"]*/, '$&-other'));
  for (const path of appFolders)
    await succeed(process.execPath, ['../../scripts/write-contracts.ts'], { cwd: join(folder, path) });
  return buildIn(folder);
}
