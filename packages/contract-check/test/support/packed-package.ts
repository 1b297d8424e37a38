import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageFolder = fileURLToPath(new URL('../..', import.meta.url));

/** The PATH of a shell outside the workspace: without the folders of the package manager, with the Node of this test. */
const path = [
  join(process.execPath, '..'),
  ...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules')),
].join(delimiter);

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command as outside the workspace. */
export function command(
  file: string,
  args: readonly string[],
  cwd: string,
  variables: NodeJS.ProcessEnv = {},
  input = '',
): CommandResult {
  // With NODE_PATH, the package would find the dependencies of this workspace.
  const env = { ...process.env, PATH: path, NODE_PATH: '', ...variables };
  return spawnSync(file, args, { cwd, env, encoding: 'utf8', input });
}

/** Builds and packs the package into a new folder in `scratch`. Returns the path of the tarball. */
export function packPackage(scratch: string): string {
  execFileSync('npx', ['-y', 'pnpm@12.21.0', 'run', 'build'], { cwd: packageFolder });
  const packed = join(scratch, 'packed');
  mkdirSync(packed);
  execFileSync('npx', ['-y', 'pnpm@12.21.0', 'pack', '--pack-destination', packed], { cwd: packageFolder });
  return join(packed, readdirSync(packed)[0] ?? '');
}
