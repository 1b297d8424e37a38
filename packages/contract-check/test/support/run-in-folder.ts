import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));

/** Runs the command in a folder, because git resolves places from the current folder. Returns what it prints. */
export function runInFolder(folder: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=deedwire-source', bin, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...variables },
  });
  return stdout + stderr;
}
