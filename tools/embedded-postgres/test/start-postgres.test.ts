import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withClient } from '../src/database.ts';
import { startPostgres } from '../src/index.ts';

const password = 'not-a-secret';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function tableNames(databaseUrl: string): Promise<string[]> {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query<{ tablename: string }>(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`),
  );
  return rows.map((row) => row.tablename);
}

test('restart keeps committed rows and the port, in fast and in immediate mode', async () => {
  const server = await startPostgres();
  await withClient(server.url, (client) => client.query('CREATE TABLE kept AS SELECT 1 AS n'));
  for (const mode of ['fast', 'immediate'] as const) {
    await server.restart(mode);
    await withClient(server.url, (client) => client.query('INSERT INTO kept VALUES (2)'));
  }
  const { rowCount } = await withClient(server.url, (client) => client.query('SELECT * FROM kept'));
  expect(rowCount).toBe(3);
  await server.stop();
  await expect(server.ended).resolves.toBeNull();
});

test('startPostgres keeps the rows of a given data directory', async () => {
  const data = { directory: join(folder, 'postgres'), password };
  const first = await startPostgres({ data });
  await withClient(first.url, (client) => client.query('CREATE TABLE kept ()'));
  await first.stop();
  const second = await startPostgres({ data });
  expect(await tableNames(second.url)).toEqual(['kept']);
  await second.stop();
});

test('the guard stops the server and removes its temporary directory when the parent is killed', async () => {
  const starter = fork(join(import.meta.dirname, 'starter.ts'), [], { execArgv: [] });
  const [dataDirectory = '']: string[] = await once(starter, 'message');
  const pid = Number((await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  starter.kill('SIGKILL');
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 240_000, interval: 50 });
  await vi.waitFor(() => expect(access(dataDirectory)).rejects.toThrow('ENOENT'), { timeout: 240_000, interval: 50 });
});
