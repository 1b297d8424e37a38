import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, findProgram, listen } from '@deedwire/testing';
import { Redis } from 'ioredis';

/** `redis-server` is not installed. Under CI, the tests that need it fail then. */
export const isWithoutRedis = findProgram('redis-server') === undefined && process.env['CI'] !== 'true';

export interface RedisServer {
  readonly client: Redis;
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** A server on a free port, whose data survives `stop` and `start`. */
export async function startRedis(): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-receiver-redis-'));
  const free = await listen(createServer());
  const { port } = free;
  await free.close();
  const client = new Redis({ port, maxRetriesPerRequest: 1, retryStrategy: () => 50, lazyConnect: true });
  client.on('error', () => {});
  let running: ReturnType<typeof spawn>;
  const start = async (): Promise<void> => {
    running = spawn(
      'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--save',
        '',
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
      ],
      { stdio: 'ignore' },
    );
    await eventually(() => client.ping());
  };
  const stop = async (): Promise<void> => {
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  };
  await start();
  return {
    client,
    start,
    stop,
    async remove() {
      client.disconnect();
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}
