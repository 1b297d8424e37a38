import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, startPostgres } from '@deedwire/embedded-postgres';
import { connect, type Connection, eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { applyMigrations, migrate, readMigrations } from '../src/index.ts';

// Not the server of the run, because a test restarts it.
const server = await forFile(startPostgres());

const migration = '0033-queue-by-account';
const index = 'webhook_event_queue_by_account';

/** Null before the build has started. */
async function stateOfIndex(connection: Connection): Promise<{ isValid: boolean; id: string } | null> {
  const [state] = await connection.run(
    `select indisvalid as "isValid", indexrelid::text as id from pg_index where indexrelid = to_regclass($1)`,
    [index],
  );
  return (state as { isValid: boolean; id: string } | undefined) ?? null;
}

/** Adds the events of an account to the queue. An insert that waits for the build of the index fails. */
const queue = (connection: Connection, count: number): Promise<unknown> =>
  connection.run(`
    set lock_timeout = '1s';
    insert into webhook_event_queue (account_id, interface, event_id)
    select id, interface, number from account, generate_series(1, ${count}) number`);

/** A database to which all migrations before that of the index were applied. */
async function createDatabase(): Promise<string> {
  const { databaseUrl } = await createTestDatabase({
    template: 'without_index',
    prepare: async (url) => {
      const before = (await readMigrations()).filter(({ name }) => name < migration);
      await applyMigrations(url, before, {});
    },
    server: { url: server.url, namePrefix: 'killed_' },
  });
  return databaseUrl;
}

function startMigrating(databaseUrl: string): ChildProcess {
  const program = `
    const [{ migrate }, { testService }] = [await import(process.argv[1]), await import(process.argv[2])];
    await migrate(process.argv[3], testService);`;
  return spawn(
    process.execPath,
    [
      '--conditions=deedwire-source',
      '--eval',
      program,
      import.meta.resolve('../src/index.ts'),
      import.meta.resolve('@deedwire/core/test-service'),
      databaseUrl,
    ],
    { stdio: 'inherit' },
  );
}

test.each(['the process', 'the process and the server'])(
  'the index of the queue is complete after %s was killed while it was built beside inserts',
  async (killed) => {
    const databaseUrl = await createDatabase();
    const [apps, writer] = [await connect(databaseUrl), await connect(databaseUrl)];
    await apps.run(`
      with owner as (insert into organization (name) values ('Test') returning id)
      insert into account (interface, organization_id, name) select (enum_range(null::interface_name))[1], id, 'Test' from owner`);
    await queue(apps, 1_000);
    // The build waits for this transaction.
    await writer.run('begin');
    await queue(writer, 1);
    const migrating = startMigrating(databaseUrl);
    await eventually(async () => expect(await stateOfIndex(apps)).toMatchObject({ isValid: false }));
    await queue(apps, 1_000);
    const exited = once(migrating, 'exit');
    migrating.kill('SIGKILL');
    await exited;
    const interrupted = await stateOfIndex(apps);
    expect(interrupted).toMatchObject({ isValid: false });
    if (killed === 'the process') await writer.run('commit');
    else await server.restart('immediate');

    // PostgreSQL completes the index of a process that has ended. The server that crashed leaves one that is not valid.
    expect((await migrate(databaseUrl, testService)).applied).toContain(migration);
    const connection = await connect(databaseUrl);
    const completed = await stateOfIndex(connection);
    expect(completed).toEqual({ isValid: true, id: expect.any(String) });
    expect(completed?.id === interrupted?.id).toBe(killed === 'the process');
    await connection.run('drop index webhook_event_queue_ready; set enable_seqscan = off');
    const count = 'select count(*)::int as count from webhook_event_queue where blocked_on is null';
    expect(JSON.stringify(await connection.run(`explain ${count}`))).toContain(index);
    expect(await connection.run(count)).toEqual([{ count: killed === 'the process' ? 2_001 : 2_000 }]);
    for (const each of [apps, writer, connection]) await each.close().catch(() => {});
  },
);
