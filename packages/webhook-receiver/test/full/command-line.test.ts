import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { Pool } from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import { postgresKeptEvents, postgresStore } from '../../src/postgres.ts';
import { call } from '../support/call.ts';
import { placed } from '../support/delivery.ts';
import { jobLibraries } from '../support/job-libraries.ts';
import * as events from '../support/order-events/index.ts';

const database = await forFile(
  createTestDatabase({
    template: 'webhook_receiver_command_line',
    async prepare(databaseUrl) {
      for (const [, { install }] of jobLibraries) await install(databaseUrl);
    },
  }),
);
const pool = await forFile(new Pool({ connectionString: database.databaseUrl }));

/** Resolves with the output, or rejects with the line that says why the command failed. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { exitCode, stdout, stderr } = await call(args, { env });
  if (exitCode === 0) return stdout;
  throw new Error(`${exitCode} ${stderr.replace('deedwire-webhook-receiver: ', '').trimEnd()}`);
}

function move(...options: string[]): Promise<string> {
  return run(['move-inbox', ...options], { DATABASE_URL: database.databaseUrl });
}

const nodeArguments = ['--conditions=deedwire-source', fileURLToPath(new URL('../../src/bin.ts', import.meta.url))];

function execute(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [...nodeArguments, ...args]);
}

describe('sql', () => {
  const tables = {
    store: { table: 'webhook_receipt', createTable: (login: Pool) => postgresStore(login).createTable() },
    inbox: {
      table: 'webhook_inbox_receipt',
      createTable: (login: Pool) => graphileWorkerInbox(login, { events, on: {} }).createTable(),
    },
    'kept-events': {
      table: 'webhook_kept_event',
      createTable: (login: Pool) => postgresKeptEvents(login).createTable(),
    },
  };

  test.each(Object.entries(tables))(
    'prints the migration of the %s for a login that may not create tables',
    async (name, { table, createTable }) => {
      await pool.query(`drop role if exists restricted; create role restricted login password 'restricted'`);
      const url = new URL(database.databaseUrl);
      url.username = 'restricted';
      url.password = 'restricted';
      const login = new Pool({ connectionString: url.href });
      try {
        await expect(createTable(login)).rejects.toThrow(
          `This login neither finds the table "${table}" nor may create it. Create it in a migration, with the SQL that "npx @deedwire/webhook-receiver sql ${name} --grant-to <login>" prints.`,
        );
        const sql = await run(['sql', name, '--grant-to', 'restricted'], {});
        await pool.query(sql);
        // A migration may run again.
        await pool.query(sql);
        await createTable(login);
        for (const right of ['select', 'insert', 'update', 'delete']) {
          const { rows } = await login.query('select has_table_privilege($1, $2) as has', [table, right]);
          expect(rows).toEqual([{ has: true }]);
        }
      } finally {
        await login.end();
        await pool.query(`drop table if exists ${table}`);
        await pool.query('drop role restricted');
      }
    },
  );

  test('fails with one line if the reader of its output has gone', async () => {
    // It begins at the end of its input.
    const waiting = '--import=data:text/javascript,for await (const chunk of process.stdin);';
    const child = spawn(process.execPath, [waiting, ...nodeArguments, 'sql', 'store']);
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.end();
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ stderr, exitCode }).toEqual({
      stderr: 'deedwire-webhook-receiver: the output cannot be written: write EPIPE\n',
      exitCode: 1,
    });
  });

  test('prints a table with another name, as a process', async () => {
    const { stdout } = await execute('sql', 'store', '--table', 'app.receipt', '--grant-to', 'the service');
    expect(stdout).toBe(
      `create table if not exists "app"."receipt" (
  id text primary key,
  received_at timestamptz not null default now()
);
create index if not exists "receipt_received_at" on "app"."receipt" (received_at);
grant usage on schema "app" to "the service";
grant select, insert, update, delete on "app"."receipt" to "the service";
`,
    );
  });
});

describe.each(jobLibraries)('move-inbox %s', (name, { open, jobs }) => {
  test('moves waiting and processed events, and leaves those that run or failed', async () => {
    // As version 1.2.0 created it.
    await pool.query(`create table webhook_inbox (
      id text primary key,
      state text not null default 'waiting' check (state in ('waiting', 'processed', 'failed')),
      body text,
      unsigned text,
      attempts integer not null default 0,
      error text,
      received_at timestamptz not null default now(),
      due_at timestamptz not null default now(),
      ended_at timestamptz
    )`);
    await pool.query(
      `insert into webhook_inbox (id, state, body, unsigned, ended_at, received_at)
      select kind || number, kind, case kind when 'processed' then null else $1 end,
        case kind when 'processed' then null else $2 end,
        case kind when 'waiting' then null else timestamptz '2026-11-20 12:00Z' end, timestamptz '2026-11-20 11:00Z'
      from unnest(array['waiting', 'processed', 'failed']) as kind, generate_series(1, 501) as number
      where kind = 'waiting' or number <= 2`,
      [JSON.stringify(placed), JSON.stringify({ subscriptionId: null, sequence: 12, attempt: 1 })],
    );
    const handled: string[] = [];
    const { inbox, start, stop } = await open(pool, {
      events,
      on: { 'order.placed': { '2026-11-01': (_event, { id }) => handled.push(id) } },
    });
    // A process of the old version handles one of them.
    const old = await pool.connect();
    try {
      await old.query(`begin; select from webhook_inbox where id = 'waiting7' for update`);
      expect(await move(name)).toBe(
        `500 deliveries have jobs now.\n2 processed deliveries were moved.\n2 failed deliveries remain. Move them with --failed.\n1 deliveries remain: a process of version 1 handles them. Stop it, and run this again.\n`,
      );
      await old.query('rollback');
    } finally {
      old.release();
    }
    expect((await pool.query(jobs)).rows).toEqual([{ count: 500 }]);
    expect(await move(name, '--failed')).toBe('3 deliveries have jobs now.\n0 processed deliveries were moved.\n');
    expect((await pool.query('select from webhook_inbox')).rowCount).toBe(0);
    await start();
    await eventually(async () => {
      const { rows } = await pool.query(
        'select count(*)::int as count from webhook_inbox_receipt where processed_at is null',
      );
      expect(rows).toEqual([{ count: 0 }]);
    }, 60_000);
    await stop();
    expect(new Set(handled).size).toBe(503);
    expect(handled).toHaveLength(503);
    // They keep the time from which they are remembered.
    const { rows } = await pool.query(
      `select id from webhook_inbox_receipt where processed_at = '2026-11-20 12:00Z' order by id`,
    );
    expect(rows).toEqual([{ id: 'processed1' }, { id: 'processed2' }]);
    expect(await inbox.forget({ ids: ['processed1', 'waiting1'] })).toBe(2);
    await pool.query('drop table webhook_inbox, webhook_inbox_receipt');
  });
});

async function createOld(): Promise<void> {
  await pool.query(
    'create table webhook_inbox (id text, state text, body text, unsigned text, received_at timestamptz)',
  );
  await pool.query(`insert into webhook_inbox values ('a', 'waiting', '{}', '{}', now())`);
}

describe('a command that fails says why in one line', () => {
  const notMoved = 'the inbox was not moved completely: ';
  const failed = `1 ${notMoved}`;

  afterEach(() => pool.query('drop table if exists webhook_inbox, webhook_inbox_receipt'));

  test('without the table of version 1', async () => {
    const message = `${failed}there is no table "webhook_inbox". Pass that of postgresInbox with --from.`;
    await expect(move('graphile-worker')).rejects.toThrow(new Error(message));
    await pool.query('create table webhook_inbox (id text)');
    await expect(move('graphile-worker')).rejects.toThrow(`${failed}column "state" does not exist`);
  });

  test.each([
    ['graphile-worker', ['--schema', 'none'], /^schema "none" does not exist\. Create the tables with "npx graphile/],
    [
      'pg-boss',
      ['--schema', 'none'],
      /^pg-boss is not installed\. Create the tables with boss\.start\(\), and the queue/,
    ],
    [
      'pg-boss',
      ['--name', 'none'],
      /^Queue none does not exist\. Create the tables with boss\.start\(\), and the queue/,
    ],
  ])('without the tables of %s or with a wrong name: %j', async (name, options, cause) => {
    await createOld();
    const failure = await move(name, ...options).catch((error: Error) => error.message);
    expect(failure).toMatch(failed);
    expect(failure.replace(failed, '')).toMatch(cause);
    // Nothing is lost.
    expect((await pool.query('select from webhook_inbox')).rowCount).toBe(1);
  });

  test.each([
    ['graphile-worker', 'postgres://127.0.0.1:1/none', 'connect ECONNREFUSED 127.0.0.1:1'],
    ['graphile-worker', 'postgres://[', 'the URL of the database is malformed. It has the form'],
  ])('with a database that cannot be reached: %s %s', async (name, url, cause) => {
    await expect(run(['move-inbox', name], { DATABASE_URL: url })).rejects.toThrow(`${failed}${cause}`);
  });

  test('as a process', async () => {
    const args = ['move-inbox', 'graphile-worker', '--database-url', 'postgres://127.0.0.1:1/none'];
    const failure = await execute(...args).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/ECONNREFUSED\s+127/) });
    expect(await execute('sql', 'store', '--table', 'a.b.c').catch((error: unknown) => error)).toMatchObject({
      code: 2,
      stderr: 'deedwire-webhook-receiver: table must be a name or schema.name, not "a.b.c".\n',
    });
  });
});

test('explains a wrong command', async () => {
  const malformed = new Error('2 table must be a name or schema.name, not "a.b.c".');
  await expect(run(['sql', 'inbox', '--table', 'a.b.c'], {})).rejects.toThrow(malformed);
  await expect(move('pg-boss', '--from', 'a.b.c')).rejects.toThrow(malformed);
  await expect(run(['move-inbox', 'bull'], {})).rejects.toThrow('2 move-inbox needs graphile-worker or pg-boss.');
  await expect(run(['sql', 'store', 'inbox'], {})).rejects.toThrow('2 sql needs store, inbox, kept-events or pull.');
  await expect(run(['move-inbox', 'pg-boss'], {})).rejects.toThrow('2 set DATABASE_URL, or pass --env-file.');
});

test('move-inbox reads the database from a file, and warns of a secret in an argument', async () => {
  const url = 'postgres://login:canary-of-a-login@127.0.0.1:1/name';
  const options = { input: `DATABASE_URL=${url}\n` };
  const fromFile = await call(['move-inbox', 'pg-boss', '--env-file', '-'], options);
  expect(fromFile.stderr).toMatch(
    /^deedwire-webhook-receiver: the inbox was not moved completely: [^\n]*127\.0\.0\.1:1\n$/,
  );
  const deprecated = await call(['move-inbox', 'pg-boss', '--database-url', url]);
  expect(deprecated.stderr).toMatch(/^--database-url is deprecated[^]*\ndeedwire-webhook-receiver: the inbox was not/);
  expect(deprecated.stderr).not.toContain('canary');
});
