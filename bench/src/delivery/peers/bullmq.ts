import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { PeerDelivery } from '../signed-post.ts';
import { concurrency, inChunks, type StartPeer } from './queue.ts';

const name = 'webhooks';

/** Jobs added in bulk, one worker with many jobs at a time, and the results kept, as ours and pg-boss keep them. */
export const startBullMq: StartPeer = async (_storeUrl, post) => {
  const { connect, pid } = await startRedis();
  const queue = new Queue<PeerDelivery, number>(name, { connection: connect() });
  let worker: Worker<PeerDelivery, number> | undefined;
  return {
    add: (deliveries) => inChunks(deliveries, (chunk) => queue.addBulk(chunk.map((data) => ({ name, data })))),
    async drain(deliveries) {
      const settled = Promise.withResolvers<void>();
      let left = deliveries;
      worker = new Worker<PeerDelivery, number>(name, ({ data }) => post(data), {
        connection: connect(),
        concurrency,
      });
      worker.on('error', settled.reject);
      worker.on('failed', (_job, error) => settled.reject(error));
      worker.on('completed', () => {
        left -= 1;
        if (left === 0) settled.resolve();
      });
      await settled.promise;
    },
    countUnsettled: () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'failed'),
    async rest() {
      await worker?.close();
    },
    storePid: pid,
  };
};

/** In a temporary directory. Both end with this process. */
async function startRedis() {
  const directory = mkdtempSync(join(tmpdir(), 'deedwire-redis-'));
  const socket = join(directory, 'redis.sock');
  // The persistence that the documentation of BullMQ recommends: a log, flushed once per second.
  const persistence = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];
  const flags = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--maxmemory-policy', 'noeviction'];
  const server = spawn('redis-server', [...flags, ...persistence], { stdio: ['ignore', 'ignore', 'inherit'] });
  // The parent's terminal sends this signal to the whole process group. This process ends when the parent has ended.
  process.on('SIGINT', () => {});
  process.once('exit', () => {
    server.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const connect = () => new Redis(socket, { maxRetriesPerRequest: null }).on('error', () => {});
  const first = connect();
  const failed = once(server, 'exit').then(() => Promise.reject(new Error('redis-server did not start.')));
  await Promise.race([first.ping(), failed]);
  first.disconnect();
  return { connect, pid: server.pid };
}
