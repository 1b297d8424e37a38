import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openHome as openSharedHome, writePrivately } from '@deedwire/development';
import { isDefault, type Layout } from '@deedwire/layout';
import type { DevFile } from './dev-file.ts';
import { workspaceRoot } from './workspace.ts';

export type Home = Awaited<ReturnType<typeof openHome>>;

/**
 * The folder of `pnpm dev` for a service, unless DEEDWIRE_HOME names another one: the data of two services are apart.
 *
 * @param layout of the service
 */
export function homeOf(layout: Layout): string {
  return join(workspaceRoot, isDefault(layout) ? '' : layout.root, '.local');
}

/**
 * Opens the home of `pnpm dev` and removes the files that a killed one left in it.
 *
 * @param interfaceNames the account of the first one is in `dev.env`
 * @throws {CannotStartError} if another `pnpm dev` uses the folder, or if it cannot be written
 */
export async function openHome(directory: string, [first, ...others]: readonly string[]) {
  const home = await openSharedHome(directory, 'pnpm dev');
  /** They hold shell variables, and exist whenever `dev.json` does. */
  const variablesFiles = new Map([
    [first ?? '', join(directory, 'dev.env')],
    ...others.map((name) => [name, join(directory, `${name}.env`)] as const),
  ]);
  async function removeDevFiles(): Promise<void> {
    await home.removeDevFile();
    for (const path of variablesFiles.values()) await rm(path, { force: true });
  }
  await removeDevFiles();
  return {
    ...home,
    variablesFiles,
    async writeDevFiles(content: DevFile, variables: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, path] of variablesFiles) await writePrivately(path, variables[name] ?? '');
      // Last: scripts wait for this file.
      await home.writeDevFile(content);
    },
    removeDevFiles,
  };
}
