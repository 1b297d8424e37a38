/** `pnpm bench <name>`: installs the peers of `bench/`, a separate workspace, on first use, and runs a bench. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installWorkspace } from './install-workspace.ts';

const folder = join(import.meta.dirname, '../bench');

function run(): number {
  const main = join(folder, 'src/main.ts');
  const flags = ['--conditions=deedwire-source', main, ...process.argv.slice(2)];
  return spawnSync(process.execPath, flags, { stdio: 'inherit' }).status ?? 1;
}

process.exitCode = installWorkspace(folder, 'the peers of the benches', '100 MB') ? run() : 1;
