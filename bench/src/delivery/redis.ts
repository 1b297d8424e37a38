import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { startChild } from '../child.ts';
import type { Defer } from '../with-cleanup.ts';

export interface RedisServer {
  socket: string;
  pid: number;
}

const hasRedis = (): boolean => spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

/**
 * Starts Redis. Returns null if it is not installed.
 *
 * @param options.install whether to install it, where root runs this on Debian
 */
export async function startRedis(
  { progress, install }: { progress: (line: string) => void; install: boolean },
  defer: Defer,
): Promise<RedisServer | null> {
  if (!hasRedis()) {
    if (!install || process.getuid?.() !== 0) return null;
    progress('Installing redis-server with apt-get');
    // In run level 1, Debian's packages do not start their services.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const options: SpawnSyncOptions = { env, stdio: ['ignore', 'ignore', 'inherit'] };
    spawnSync('apt-get', ['-qq', 'update'], options);
    spawnSync('apt-get', ['-qq', 'install', '-y', '--no-install-recommends', 'redis-server'], options);
    if (!hasRedis()) return null;
  }
  const { ready } = await startChild(defer, './delivery/redis-process.ts');
  return JSON.parse(ready);
}
