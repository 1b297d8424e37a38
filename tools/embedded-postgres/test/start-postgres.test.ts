import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withClient } from '../src/database.ts';
import { startPostgres } from '../src/index.ts';

async function postmasterOf(dataDirectory: string): Promise<number> {
  return Number((await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

test('restart keeps committed rows and the port, and another server does not start at it', async () => {
  const server = await startPostgres();
  await withClient(server.url, (client) => client.query('CREATE TABLE kept AS SELECT 1 AS n'));
  for (const mode of ['fast', 'immediate'] as const) {
    await server.restart(mode);
    await withClient(server.url, (client) => client.query('INSERT INTO kept VALUES (2)'));
  }
  const { rowCount } = await withClient(server.url, (client) => client.query('SELECT * FROM kept'));
  expect(rowCount).toBe(3);
  const port = Number(new URL(server.url).port);
  await expect(startPostgres({ port })).rejects.toThrow(/did not start[\s\S]*could not bind/);
  await server.stop();
  await expect(server.ended).resolves.toBeNull();
});

test('each start on a data directory keeps its rows, however the server before it ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const data = { directory: join(folder, 'postgres'), password: 'not-a-secret' };
  const start = async () => {
    const server = await startPostgres({ data });
    await withClient(server.url, (client) => client.query('SELECT FROM kept'));
    return server;
  };
  const first = await startPostgres({ data });
  await withClient(first.url, (client) => client.query('CREATE TABLE kept ()'));
  await first.stop();

  const second = await start();
  // Its guard leaves the server running.
  process.kill(second.guardPid, 'SIGKILL');
  await second.ended;
  await (await start()).stop();

  // The process id of another program.
  await writeFile(join(data.directory, 'postmaster.pid'), `${process.ppid}\n`);
  const last = await start();
  process.kill(await postmasterOf(data.directory), 'SIGQUIT');
  await expect(last.ended).resolves.toBe('PostgreSQL exited unexpectedly.');
});

test('the guard stops the server and removes its temporary directory when the parent is killed', async () => {
  const starter = fork(join(import.meta.dirname, 'starter.ts'), [], { execArgv: [] });
  const [dataDirectory = '']: string[] = await once(starter, 'message');
  const pid = await postmasterOf(dataDirectory);
  starter.kill('SIGKILL');
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 240_000, interval: 50 });
  await vi.waitFor(() => expect(access(dataDirectory)).rejects.toThrow('ENOENT'), { timeout: 240_000, interval: 50 });
});
