import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withClient } from '../../src/database.ts';
import { startPostgres } from '../../src/index.ts';

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

test('startPostgres stops a server that a killed guard left running, and keeps its rows', async () => {
  const data = { directory: join(folder, 'postgres'), password };
  const first = await startPostgres({ data });
  await withClient(first.url, (client) => client.query('CREATE TABLE kept ()'));
  process.kill(first.guardPid, 'SIGKILL');
  await first.ended;
  const second = await startPostgres({ data });
  expect(await tableNames(second.url)).toEqual(['kept']);
  await second.stop();
});

test('startPostgres ignores a postmaster.pid that holds the process id of another program', async () => {
  const data = { directory: join(folder, 'postgres'), password };
  await (await startPostgres({ data })).stop();
  await writeFile(join(data.directory, 'postmaster.pid'), `${process.ppid}\n`);
  const server = await startPostgres({ data });
  expect(await tableNames(server.url)).toEqual([]);
  await server.stop();
});

test('startPostgres rejects with the log of the server when the start fails', async () => {
  const server = await startPostgres();
  const port = Number(new URL(server.url).port);
  await expect(startPostgres({ port })).rejects.toThrow(/did not start[\s\S]*could not bind/);
  await server.stop();
});

test('ended resolves with the reason when the server exits unexpectedly', async () => {
  const data = { directory: join(folder, 'postgres'), password };
  const server = await startPostgres({ data });
  const pid = Number((await readFile(join(data.directory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  process.kill(pid, 'SIGQUIT');
  await expect(server.ended).resolves.toBe('PostgreSQL exited unexpectedly.');
});
