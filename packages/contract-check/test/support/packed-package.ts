import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Provided by `tools/contract-tests/test/support/packed-packages.ts`. */
    packedPackages: { url: string };
  }
}

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
  // With NODE_PATH, the package would find the dependencies of this workspace. Each installation would ask the registry again.
  const env = { ...process.env, PATH: path, NODE_PATH: '', npm_config_prefer_offline: 'true', ...variables };
  return spawnSync(file, args, { cwd, env, encoding: 'utf8', input });
}

/** The path of the package, which a run of `full` or `long` builds and packs once. */
export async function packedPackage(): Promise<string> {
  const response = await fetch(inject('packedPackages').url);
  if (!response.ok) throw new Error(await response.text());
  const { tarballs }: { tarballs: Record<string, string> } = JSON.parse(await response.text());
  return tarballs['@deedwire/contract-check'] ?? '';
}
