/**
 * Owns a Redis server in a temporary directory, and removes both when its parent disconnects. The first message is JSON:
 * `{ socket, pid }`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveParent } from '../child.ts';

const directory = await mkdtemp(join(tmpdir(), 'deedwire-redis-'));
const socket = join(directory, 'redis.sock');
// The persistence that the documentation of BullMQ recommends: a log, flushed once per second.
const persistence = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];
const flags = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--maxmemory-policy', 'noeviction'];
const server = spawn('redis-server', [...flags, ...persistence], { stdio: ['ignore', 'ignore', 'inherit'] });
const exited = once(server, 'exit');

async function accepts(): Promise<boolean> {
  const connection = connect(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}

// The parent's terminal sends this signal to the whole process group.
process.on('SIGINT', () => {});
while (!(await accepts())) {
  if (server.exitCode !== null) throw new Error('redis-server did not start.');
  await sleep(10);
}
serveParent(
  JSON.stringify({ socket, pid: server.pid }),
  () => {},
  async () => {
    server.kill('SIGTERM');
    await exited;
    await rm(directory, { recursive: true, force: true });
  },
);
