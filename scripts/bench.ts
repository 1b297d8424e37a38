/** `pnpm bench <name>`: installs the peers of `bench/`, a separate workspace, on first use, and runs a bench. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../bench');
const lockfile = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
// The lockfile of the last complete installation.
const installedLockfile = join(folder, 'node_modules/.installed-lock.yaml');

/** Returns whether the peers are installed. Writes only to stderr, because stdout is the report. */
function install(): boolean {
  if (existsSync(installedLockfile) && readFileSync(installedLockfile, 'utf8') === lockfile) return true;
  process.stderr.write('Installing the peers of the benches into bench/node_modules, about 100 MB.\n');
  const { status } = spawnSync('pnpm', ['install', '--frozen-lockfile'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stderr.write(
      'Could not install the peers of the benches. The first run needs the npm registry and pnpm.\n',
    );
    return false;
  }
  writeFileSync(installedLockfile, lockfile);
  return true;
}

function run(): number {
  const main = join(folder, 'src/main.ts');
  const flags = ['--conditions=deedwire-source', main, ...process.argv.slice(2)];
  return spawnSync(process.execPath, flags, { stdio: 'inherit' }).status ?? 1;
}

process.exitCode = install() ? run() : 1;
