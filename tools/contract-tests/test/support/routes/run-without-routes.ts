import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FoundWithoutRoutes } from './routes-process.ts';

const enter = ['--net', '--mount'];

/** Tests that need namespaces of networks and mounts are skipped, unless under CI. */
export const isWithoutRoutes =
  process.env['CI'] !== 'true' &&
  (spawnSync('unshare', [...enter, 'ip', 'link', 'set', 'lo', 'up']).status !== 0 ||
    spawnSync('openssl', ['version']).status !== 0);
if (isWithoutRoutes)
  process.stderr.write('Skipped: networks without a route need root, util-linux, iproute2 and openssl.\n');

/** Runs the apps where no public address but those of their receivers can be reached. */
export async function runWithoutRoutes(): Promise<FoundWithoutRoutes> {
  const main = fileURLToPath(new URL('routes-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(
    'unshare',
    [...enter, '--kill-child', process.execPath, '--conditions=deedwire-source', main],
    { maxBuffer: Number.POSITIVE_INFINITY },
  );
  return JSON.parse(stdout);
}
