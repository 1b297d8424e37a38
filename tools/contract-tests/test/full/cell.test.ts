import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { connect, eventually } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { startOperator } from '../support/cells/operator-process.ts';

async function startCell() {
  const database = await createMigratedDatabase();
  const { databaseUrl } = database;
  const superuser = await connect(database.databaseUrl);
  onTestFinished(async () => {
    await superuser.close();
    await database.drop();
  });
  const env = {
    DATABASE_URL: await database.urlFor('operator'),
    DATABASE_DIRECT_URL: database.databaseUrl,
    NEW_CELL_DATABASE_URL: database.databaseUrl,
  };
  return { env, databaseUrl, run: (sql: string) => superuser.run(sql) };
}

test('a cell that was never split lists itself, and refuses to freeze', async () => {
  const { env } = await startCell();
  expect(await callOperator(env, 'cell', 'list')).toEqual({
    exitCode: 0,
    stdout:
      'cell          organizations  accounts  frozen  frozen since  MB to prune (estimate)\n0 (this one)  0              0         0       -             0.0\n',
    stderr: '',
  });
  expect(await callOperator({ ...env, SLOW_STATEMENT_MS: '1' }, 'cell', 'list')).toMatchObject({
    stderr: expect.stringContaining('slow statement: select-cells, '),
  });
  expect(await callOperator(env, 'cell', 'split', 'status')).toMatchObject({ stdout: 'No split was prepared\n' });
  expect(await callOperator(env, 'cell', 'split', 'freeze', '--yes')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: No split is open. Run `cell split prepare` first.\n',
  });
});

test('a step needs a superuser, two servers, and --dry-run or --yes', async () => {
  const { env } = await startCell();
  const freeze = (variables: object, ...args: string[]) =>
    callOperator({ ...env, ...variables }, 'cell', 'split', 'freeze', ...args);
  expect(await freeze({})).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('pass --dry-run') });
  expect(await freeze({}, '--dry-run', '--yes')).toMatchObject({ exitCode: 2 });
  expect(await freeze({ DATABASE_DIRECT_URL: env.DATABASE_URL }, '--yes')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('needs the login of a superuser'),
  });
  const prepare = (variables: object, ...args: string[]) =>
    callOperator({ ...env, ...variables }, 'cell', 'split', 'prepare', '--dry-run', '--to', '5', ...args);
  expect(await prepare({})).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('pass --leave') });
  expect(await prepare({ NEW_CELL_DATABASE_URL: undefined }, '--leave', '-')).toMatchObject({
    exitCode: 1,
    stderr: 'error: Set NEW_CELL_DATABASE_URL to the URL of the standby.\n',
  });
  const far = { NODE_ENV: 'production', NEW_CELL_DATABASE_URL: 'postgres://db.example/deedwire' };
  expect(await prepare(far, '--leave', '-')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('NEW_CELL_DATABASE_URL must use verified TLS'),
  });
  expect(await prepare({}, '--leave', '-')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('leads to the database of the old side'),
  });
});

/** A cell of which one organization is to leave, and a transaction that a freeze waits for. */
async function startFreezing() {
  const cell = await startCell();
  const { databaseUrl, run } = cell;
  await run(`insert into organization (name) values ('Harbour')`);
  await run(
    `insert into account (interface, organization_id, name) select 'customer', id, 'Harbour' from organization`,
  );
  await run(
    `insert into cell_split (from_cell, to_cell, organization_ids, standbys) select 0, 5, array_agg(id), '{}' from organization`,
  );
  const open = await forTest(connect(databaseUrl));
  await open.run('begin');
  await open.run(`insert into customer_order (account_id, item) select id, 'Ada' from account`);
  return { ...cell, open };
}

test.each(['SIGHUP', 'SIGINT', '--wait'] as const)('a freeze that waits is undone after %s', async (end) => {
  const { env, run } = await startFreezing();
  const waiting = end === '--wait' ? ['--wait', '2'] : [];
  const { child, ended } = startOperator(['cell', 'split', 'freeze', '--yes', ...waiting], env);
  await eventually(async () => expect(await run('select from account_home')).toHaveLength(1));
  if (end !== '--wait') child.kill(end);
  expect(await ended).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: Nothing is frozen, because a transaction stays open/),
  });
  expect(await run('select from account_home')).toEqual([]);
});

test('a freeze that loses the database while it waits says that it may stay', async () => {
  const { env, run, open } = await startFreezing();
  const frozen = callOperator(env, 'cell', 'split', 'freeze', '--yes');
  await eventually(async () => expect(await run('select from account_home')).toHaveLength(1));
  // Those of this database only: other tests run at the same time.
  await run(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'deedwire-split' and datname = current_database()`,
  );
  expect(await frozen).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: What leaves may stay frozen\. Run .* \(/),
  });
  await open.run('commit');
  expect(await callOperator(env, 'cell', 'split', 'freeze', '--yes')).toMatchObject({ exitCode: 0 });
});

test('a freeze that goes on after a kill waits for the transactions from before it', async () => {
  const { env, run, open } = await startFreezing();
  // The killed command has committed this.
  await run('insert into organization_home select id, 5, next_freeze() from organization');
  await run('insert into account_home select id, 5, next_freeze() from account');
  const freeze = () => callOperator(env, 'cell', 'split', 'freeze', '--yes', '--wait', '1');
  expect(await freeze()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('a transaction stays open') });
  await open.run('commit');
  expect(await freeze()).toMatchObject({ exitCode: 0 });
  // Plans from when the table was empty are over.
  expect(await run(`select reltuples from pg_class where relname = 'account_home'`)).toEqual([{ reltuples: 1 }]);
});
