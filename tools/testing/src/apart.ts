import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const workspace = fileURLToPath(new URL('../apart', import.meta.url));

/**
 * Installs a copy of a folder of `tools/testing/apart`: packages that few tests use, so the workspace does not install them.
 *
 * @returns the folder to resolve the packages from
 */
export async function installApart(
  name: 'asyncapi' | 'receiver' | 'registry' | 'squawk',
): Promise<{ folder: string; remove(): Promise<void> }> {
  const copy = await mkdtemp(join(tmpdir(), `deedwire-${name}-`));
  await cp(workspace, copy, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
  const install = ['install', '--frozen-lockfile', '--prefer-offline', `--filter=${name}`];
  await promisify(execFile)('pnpm', install, { cwd: copy });
  return { folder: join(copy, name), remove: () => rm(copy, { recursive: true }) };
}
