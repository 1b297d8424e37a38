import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateApiKey } from '@deedwire/auth';
import { testService, type InterfaceName, interfaceNames } from '@deedwire/core/test-service';
import { callOperator, createHarness, type Harness, otherKey } from '@deedwire/dev-environment/harness';
import { connect, type Credential, eventually, postGraphql, startReceiver } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { killOperator, operatorAt } from '../support/cells/operator-process.ts';
import { freeze, hashTables, leave, untilQuiet } from '../support/homes.ts';
import { startInterfaces } from '../support/interface-client.ts';
import { skipPauses } from '../support/skip-pauses.ts';

// The first account of each interface belongs to one organization, which leaves, and the others to another one.

skipPauses();

interface System {
  harness: Harness;
  env: Record<string, string>;
  prune: (...options: string[]) => ReturnType<typeof callOperator>;
  bytesToPrune: () => Promise<number[]>;
  /** How many rows of the organization that left are in each table, apart from those that stay. */
  countForeign: () => Promise<Record<string, unknown>>;
}

/** A cell whose accounts have events, deliveries and queued events. One organization is at home in another cell. */
async function startCell(): Promise<System> {
  const harness = await forTest(createHarness());
  const receiver = await forTest(startReceiver());
  const { accounts, sql } = harness;
  for (const customer of [accounts.customer, accounts.otherCustomer])
    await harness.subscribe(receiver.url, ['order.placed'], customer);
  const worker = await harness.startWorker();
  for (const customer of [accounts.customer, accounts.otherCustomer]) await harness.place(20, customer);
  await receiver.waitFor(40);
  const ids = interfaceNames.map((name) => accounts[name].accountId);
  const frozenAt = await freeze(harness, ids);
  await untilQuiet(harness, frozenAt);
  await leave(harness, ids);
  await harness.stopWorker(worker);
  // As the freeze found it.
  await sql(`alter table webhook_event_queue disable trigger check_home`);
  await sql(
    `insert into webhook_event_queue (account_id, interface, event_id)
     select account_id, interface, id from webhook_event order by id`,
  );
  await sql(`alter table webhook_event_queue enable trigger check_home`);
  const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
  return {
    harness,
    env,
    prune: (...options) => callOperator(env, 'cell', 'prune', ...options),
    async bytesToPrune() {
      const { stdout } = await callOperator(env, 'cell', 'list', '--json');
      const cells: { bytesToPrune: string }[] = JSON.parse(stdout);
      return cells.map(({ bytesToPrune }) => Number(bytesToPrune));
    },
    async countForeign() {
      const tables = [
        'webhook_event_queue',
        'webhook_event',
        'webhook_delivery',
        'webhook_subscription',
        'customer_order',
        'api_client',
      ];
      const counts = tables.map(
        (table) =>
          `(select count(*)::int from ${table} where account_id in (select account_id from account_home)) as ${table}`,
      );
      const [counted = {}] = await sql(`select ${counts.join()}`);
      return counted;
    },
  };
}

const none = {
  webhook_event_queue: 0,
  webhook_event: 0,
  webhook_delivery: 0,
  webhook_subscription: 0,
  customer_order: 0,
  api_client: 0,
};

test('requests of a pruned account get what strangers get, and those of others their data', async () => {
  const { harness, env, prune, bytesToPrune, countForeign } = await startCell();
  const { accounts, sql } = harness;
  expect(await prune()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('pass --dry-run') });
  const before = await hashTables(harness);
  expect(await bytesToPrune()).toEqual([0, expect.toSatisfy((bytes: number) => bytes > 100_000)]);
  const dryRun = await prune('--dry-run');
  expect(dryRun).toMatchObject({ exitCode: 0, stderr: '' });
  expect(dryRun.stdout).toMatch(/^webhook_delivery +0\.\d *$/m);
  expect(await hashTables(harness)).toEqual(before);

  const { urls } = await startInterfaces(harness);
  const send = async (name: InterfaceName, credential: Credential) => {
    const { status, body, headers } = await postGraphql(urls[name], credential, { query: '{ __typename }' });
    const compared = [...headers].filter(([header]) => !['date', 'x-request-id'].includes(header));
    return {
      status,
      answer: JSON.stringify([body, compared]).replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>'),
    };
  };
  for (const name of interfaceNames)
    expect(await send(name, accounts[name].credential)).toMatchObject({
      status: 503,
      answer: expect.stringContaining('SERVICE_UNAVAILABLE'),
    });
  const left = await countForeign();
  const [{ queued } = {}] = await sql('select count(*)::int as queued from webhook_event_queue');
  const done = await prune('--yes');
  expect(done).toMatchObject({ exitCode: 0 });
  expect(done.stdout).toMatch(
    new RegExp(String.raw`^webhook_event_queue +\S+ +${left['webhook_event_queue']} +0$`, 'm'),
  );
  expect(await countForeign()).toEqual(none);
  expect(await bytesToPrune()).toEqual([0, 0]);
  for (const name of interfaceNames) {
    const { credential } = accounts[name];
    const stranger = { ...credential, clientId: 'stranger', apiKey: generateApiKey(testService, name).apiKey };
    // What is cached of a key is forgotten after some seconds.
    await eventually(async () => expect((await send(name, credential)).status).toBe(401));
    expect(await send(name, credential)).toEqual(await send(name, stranger));
    // Of others.
    expect(await send(name, accounts[otherKey(name)].credential)).toMatchObject({ status: 200 });
  }
  expect(await harness.deliveries(accounts.otherCustomer)).toHaveLength(20);
  expect(await sql('select count(*)::int as queued from webhook_event_queue')).toEqual([
    { queued: Number(queued) - Number(left['webhook_event_queue']) },
  ]);
  expect(await prune('--yes')).toMatchObject({ exitCode: 0, stdout: 'No rows of other cells were found\n' });

  const folder = await mkdtemp(join(tmpdir(), 'deedwire-prune-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const log = join(folder, 'audit.jsonl');
  const exported = await callOperator(env, 'audit', 'export', '--json');
  await writeFile(log, exported.stdout);
  expect(await callOperator(env, 'audit', 'verify', log)).toMatchObject({ exitCode: 0 });
  expect(exported.stdout).toContain('"action":"cell.prune"');
  // Entries of what is gone stay.
  expect(
    exported.stdout.split('\n').filter((line) => line.includes(accounts.customer.clientId)).length,
  ).toBeGreaterThan(2);
});

test('goes on after it was killed or lost the database, and lets one operator work at a time', async () => {
  const { harness, env, prune, bytesToPrune, countForeign } = await startCell();
  const { sql, database } = harness;
  const blocker = await forTest(connect(database.databaseUrl));
  // Others may read.
  await blocker.run('begin; lock table webhook_subscription in share mode');
  const waiting = operatorAt('webhook_subscription');
  const expectWaiting = async (sessions = 1) => expect(await sql(`select ${waiting}`)).toHaveLength(sessions);
  await killOperator(['cell', 'prune', '--yes'], env, expectWaiting);
  const interrupted = await countForeign();
  expect(interrupted).toMatchObject({
    webhook_event_queue: 0,
    webhook_delivery: 0,
    customer_order: 0,
    webhook_subscription: 1,
    api_client: interfaceNames.length,
  });
  expect(await bytesToPrune()).toEqual([0, expect.toSatisfy((bytes: number) => bytes > 100_000)]);
  // The session of the killed command.
  await eventually(() => expectWaiting(0));
  const ended = prune('--yes');
  await eventually(expectWaiting);
  // As a restart of the server does.
  await sql(`select pg_terminate_backend(pid) ${waiting}`);
  expect(await ended).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: .*not available.*\n$/),
  });
  const first = prune('--yes');
  await eventually(expectWaiting);
  expect(await prune('--yes')).toMatchObject({
    exitCode: 1,
    stderr: 'error: Another operator works on a split of this cell.\n',
  });
  await blocker.run('commit');
  const { exitCode, stderr } = await first;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
  expect(await countForeign()).toEqual(none);
});

test('names a row that stays because a row of another account refers to it', async () => {
  const { harness, prune, countForeign } = await startCell();
  const { accounts, sql } = harness;
  await sql(
    `insert into portal_session (account_id, interface, key_id, abilities, actor, link_hash, expires_at)
     select $1, c.interface, key_id, '{READ}', 'a', sha256('a'), now() + interval '5 minutes'
     from api_key k join api_client c on c.id = api_client_id where c.account_id = $1`,
    [accounts.otherSupplier.accountId],
  );
  const [{ key } = {}] = await sql(
    'select key_id as key from api_key k join api_client c on c.id = api_client_id where c.account_id = $1',
    [accounts.supplier.accountId],
  );
  await sql('update portal_session set key_id = $1', [key]);
  // Most pages of a large table are not read for the estimate.
  for (const table of ['api_client', 'api_key'])
    await sql(`alter table ${table} set (fillfactor = 10), disable trigger user`);
  await sql(
    `with client as (
       insert into api_client (account_id, interface, client_id, schema_version)
       select $1, 'supplier', n::text, '' from generate_series(1, 4000) n
       returning id, interface
     )
     insert into api_key (key_id, api_client_id, interface, key_hash) select id::text, id, interface, sha256('a') from client`,
    [accounts.otherSupplier.accountId],
  );
  for (let times = 1; times <= 2; times += 1) {
    const { exitCode, stdout } = await prune('--yes');
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      `\n2 rows stay because others refer to them:\napi_key ${String(key)}, because of portal_session\n`,
    );
  }
  expect(await countForeign()).toEqual({ ...none, api_client: 1 });
});

test('reads no table of a cell of which nothing is at home elsewhere', async () => {
  const harness = await forTest(createHarness());
  const { database } = harness;
  const blocker = await forTest(connect(database.databaseUrl));
  await blocker.run('begin; lock table customer_order');
  const env = { DATABASE_URL: await database.urlFor('operator') };
  expect(await callOperator(env, 'cell', 'prune', '--yes')).toEqual({
    exitCode: 0,
    stdout: 'No rows of other cells were found\n',
    stderr: '',
  });
});

test('refuses while a split is open', async () => {
  const { harness, prune, countForeign } = await startCell();
  const before = await countForeign();
  await harness.sql(
    `insert into cell_split (from_cell, to_cell, organization_ids, standbys) values (0, 1, '{}', '{}')`,
  );
  for (const option of ['--dry-run', '--yes'])
    expect(await prune(option)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: A split is open. Finish it, or run `cell split abort`.\n',
    });
  expect(await countForeign()).toEqual(before);
});
