import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOperator } from '@deedwire/dev-environment/harness';
import { type PostgresServer, startPostgres } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { startFaultSystem } from '../support/faults/fault-system.ts';
import { expectAllDelivered } from '../support/faults/verdict-of.ts';

// Of Debian.
const folder15 = '/usr/lib/postgresql/15/bin';
const isWithout15 = !existsSync(join(folder15, 'pg_dump')) && process.env['CI'] !== 'true';

/** Starts PostgreSQL 15. The next servers are of the version of this workspace again. */
async function start15(): Promise<PostgresServer> {
  const before = process.env['TEST_POSTGRES_BIN'];
  process.env['TEST_POSTGRES_BIN'] = folder15;
  try {
    return await startPostgres();
  } finally {
    if (before === undefined) delete process.env['TEST_POSTGRES_BIN'];
    else process.env['TEST_POSTGRES_BIN'] = before;
  }
}

const run15 = (program: string, ...args: string[]) => succeed(join(folder15, program), args, { cwd: tmpdir() });

async function majorOf(url: string): Promise<number> {
  const version = await run15('psql', '--no-psqlrc', '-AtX', '-c', 'show server_version_num', url);
  return Math.floor(Number(version) / 10_000);
}

test.skipIf(isWithout15)('a dump of PostgreSQL 15 goes on in 18 without a loss, a repeat or a gap', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dump-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const fifteen = await start15();
  const system = await startFaultSystem({ server: fifteen, accounts: 2, leaseMs: 5_000 });
  onTestFinished(() => system.close());
  expect(await majorOf(fifteen.url)).toBe(15);

  // The worker stops first, so that events wait in the queue while the dump is made.
  const before = system.startLoad();
  await system.received.waitForMore(100);
  for (const worker of system.workers.splice(0)) {
    worker.kill('SIGTERM');
    expect(await worker.ended).toEqual({ exitCode: 0, signal: null });
  }
  const queued = async () => {
    const [row] = await system.observer.run('select count(*)::int as events from webhook_event_queue');
    return Number(row?.['events']);
  };
  await eventually(async () => expect(await queued()).toBeGreaterThan(50));
  const { accepted } = await before.stop();
  const waiting = await queued();

  const [dump, roles] = [join(folder, 'deedwire.dump'), join(folder, 'roles.sql')];
  await run15('pg_dump', '--format=custom', `--file=${dump}`, fifteen.url);
  const statements = await run15('pg_dumpall', '--roles-only', `--dbname=${fifteen.url}`);
  // The superuser of the new server exists.
  await writeFile(roles, statements.replace(/^CREATE ROLE postgres;$/m, ''));
  await fifteen.stop();

  // The same address, so that the API connects to it again.
  const eighteen = await startPostgres({ port: Number(new URL(fifteen.url).port) });
  onTestFinished(() => eighteen.stop());
  await run15('psql', '-X', '--set=ON_ERROR_STOP=1', '--quiet', `--file=${roles}`, eighteen.url);
  // The roles have the passwords that they had.
  await run15('pg_restore', '--exit-on-error', `--dbname=${fifteen.url}`, dump);
  expect(await majorOf(fifteen.url)).toBeGreaterThanOrEqual(18);
  expect(await callOperator({ DATABASE_URL: fifteen.url }, 'database', 'check')).toMatchObject({ exitCode: 0 });
  expect(await queued()).toBe(waiting);

  system.workers.push(await system.addWorker());
  const after = system.startLoad();
  await system.received.waitForMore(100);
  const result = await expectAllDelivered(system, await after.stop());
  expect(result.accepted).toBeGreaterThan(accepted);
  expect({ repeats: result.repeats, unobserved: result.unobserved }).toEqual({ repeats: 0, unobserved: 0 });
  process.stderr.write(`dump-restore: ${JSON.stringify({ ...result, waiting })}\n`);
});
