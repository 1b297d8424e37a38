import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Installs a separate workspace on first use, and again when its lockfile has changed. Returns whether it is installed. Writes
 * only to stderr, because stdout is the report.
 *
 * @param size that is downloaded into its `node_modules`
 */
export function installWorkspace(folder: string, what: string, size: string): boolean {
  const lockfile = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
  // The lockfile of the last complete installation.
  const installedLockfile = join(folder, 'node_modules/.installed-lock.yaml');
  if (existsSync(installedLockfile) && readFileSync(installedLockfile, 'utf8') === lockfile) return true;
  process.stderr.write(`Installing ${what} into ${basename(folder)}/node_modules, about ${size}.\n`);
  const { status } = spawnSync('pnpm', ['install', '--frozen-lockfile'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stderr.write(`Could not install ${what}. The first run needs the npm registry and pnpm.\n`);
    return false;
  }
  writeFileSync(installedLockfile, lockfile);
  return true;
}
