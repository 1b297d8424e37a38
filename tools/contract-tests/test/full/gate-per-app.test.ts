import { hash, randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callOperator, createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { run } from '../../../../packages/contract-check/src/cli/run.ts';
import { buildOf as buildOfOneApp } from '../../../../packages/contract-check/test/support/environment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// A login of one app stores what it can. The operator exports the environment, and contract-check answers about the other apps.

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const { path: folder } = await forFile(temporaryFolder('gate-per-app'));
const env = { DATABASE_URL: await database.urlFor('operator') };
const environment = join(folder, 'test.json');
const [{ migration } = {}] = await superuser.run('select max(name) as migration from schema_migration');

const roles = {
  'customer-api': 'customer_api',
  'supplier-api': 'supplier_api',
  'webhook-worker': 'webhook_worker',
} as const;
type App = keyof typeof roles;
const appNames = Object.keys(roles) as App[];

const oldSdl = 'type Query { a: Int old: Int @deprecated }\n';

function buildOf(app: App, version: string, sdl = oldSdl) {
  const [name = ''] = app.split('-');
  const event = 'order.placed@2026-11-01';
  const parts =
    app === 'webhook-worker'
      ? { renders: { [event]: ['id'] } }
      : { serves: { '2026-11-01': sdl }, pins: [event], appends: { 'order.placed': ['id'] } };
  const build = buildOfOneApp(app, version, { ...parts, migration: String(migration) });
  const serves = build.serves.map((served) => ({ ...served, interface: name, package: `@deedwire/${name}-schema` }));
  return { ...build, serves };
}

const textOf = (build: object): string => `${JSON.stringify(build, null, 2)}\n`;

async function runAs(app: App, statement: string, values: readonly unknown[] = []): Promise<void> {
  const login = await connect(await database.urlFor(roles[app]));
  try {
    await login.run(statement, values);
  } finally {
    await login.close();
  }
}

const register = (app: App, id: unknown, version: string, text?: string) =>
  runAs(app, 'select register_process($1, $2, $3, $4)', [
    app,
    id,
    version,
    text === undefined ? null : hash('sha256', text),
  ]);

/** Stores contracts, and registers a process that has them, with the login of the app. */
async function start(app: App, text: string, version: string): Promise<void> {
  await runAs(app, 'select store_app_contracts($1, $2)', [app, text]);
  await register(app, randomUUID(), version, text);
}

async function exportTo(...args: string[]): Promise<void> {
  expect(
    await callOperator(env, 'environment', 'export', '--name', 'test', '--out', environment, ...args),
  ).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
}

async function ask(command: string, ...args: string[]) {
  const { exitCode, stdout } = await run([command, '--root', folder, '--environment', environment, ...args]);
  return { exitCode, stdout: stdout.replaceAll(/\n {4}/g, ' ') };
}

const asked = (build: object): string => {
  writeFileSync(join(folder, 'contracts.json'), textOf(build));
  return join(folder, 'contracts.json');
};
const canIDeploy = (build: object, ...args: string[]) => ask('can-i-deploy', '--build', asked(build), ...args);

beforeEach(async () => {
  await superuser.run(`
    delete from use_counting; delete from counted_coordinates; delete from app_process; delete from app_contracts; delete from interface_use`);
  for (const app of appNames) await start(app, textOf(buildOf(app, '1.0.0')), '1.0.0');
});

/** As if the apps had counted these coordinates for 100 days. */
async function countFor100Days(): Promise<void> {
  for (const app of ['supplier-api', 'customer-api'] as const)
    await runAs(app, `select record_use($1, $2, null, false, false, '2026-11-01 Query.old', '{}', '{}', '{}', '{}')`, [
      app,
      randomUUID(),
    ]);
  await superuser.run(`
    delete from use_counting u using counted_coordinates c where c.id = u.coordinates_id and c.coordinates = '';
    update use_counting set counted_from = now() - interval '100 days'`);
}

const deep = `{"app":"customer-api","x":${'['.repeat(5000)}${']'.repeat(5000)}}`;

describe.each<[what: string, text: string, version: string]>([
  ['contracts of no form', textOf({ app: 'customer-api' }), '9.9.9'],
  ['contracts that are nested deeply', deep, '9.9.9'],
  ['contracts that no build writes so', '{ "app":"customer-api" , "z":1}', '9.9.9'],
  ['2 MB of contracts', textOf({ app: 'customer-api', x: 'x'.repeat(1_900_000) }), '9.9.9'],
  ['the contracts of a worker', textOf({ ...buildOf('webhook-worker', '9.9.9'), app: 'customer-api' }), '9.9.9'],
  ['a version with a line feed', textOf({ app: 'customer-api' }), 'x\n::error::forged'],
])('with %s of a login of the customer API', (_what, text, version) => {
  test('the answers about the supplier API are those without it', async () => {
    await start('customer-api', text, version);
    await exportTo();
    const yes = { exitCode: 0, stdout: expect.stringMatching(/^yes: [^]*Not part of this answer: [^]*customer-api/) };
    expect(await canIDeploy(buildOf('supplier-api', '1.1.0'))).toEqual(yes);
    const unknown = { exitCode: 3, stdout: expect.stringMatching(/^unknown: [^]*customer-api/) };
    expect(await canIDeploy(buildOf('customer-api', '1.1.0'))).toEqual(unknown);
    expect(await canIDeploy(buildOf('webhook-worker', '1.1.0'))).toEqual(unknown);
    expect((await ask('can-i-retire', 'supplier@2026-11-01')).stdout).not.toContain('unknown: customer-api');
  });
});

const createOrganization = () => callOperator(env, 'organization', 'create', '--name', 'Harbour');

/** Of the next version, which has another event. */
function nextOf(app: App, version: string) {
  const build = buildOf(app, version);
  return {
    ...build,
    pins: [],
    appends: build.appends.map((event) => ({ ...event, type: 'order.archived' })),
    renders: build.renders.map((rendered) => ({ ...rendered, event: 'order.archived@2026-11-01' })),
  };
}

describe.each(appNames)('with processes of a login of %s', (own) => {
  const others = appNames.filter((app) => app !== own);

  test('each process of another app is exported, whatever its id', async () => {
    expect(await createOrganization()).toMatchObject({ exitCode: 0, stderr: '' });
    // Processes beyond 1,000 have this id.
    for (const app of others) await runAs(app, `select register_process($1, md5($1)::uuid, '1.0.0', null)`, [app]);
    const honest = await superuser.run('delete from app_process where app <> $1 returning app, id', [own]);
    for (const { id } of honest) await register(own, id, 'planted');
    for (const app of others)
      for (const { id } of honest.filter((row) => row['app'] === app)) await register(app, id, '1.0.0');
    expect(await createOrganization()).toMatchObject({ exitCode: 0, stderr: '' });
    await exportTo();
    const { processes }: { processes: { app: string; version: string }[] } = JSON.parse(
      readFileSync(environment, 'utf8'),
    );
    const exported = processes.filter(({ version }) => version !== 'planted').map(({ app }) => app);
    expect(exported).toEqual([own, ...honest.map((row) => String(row['app']))].toSorted());
  });

  test('a build of another app that has not registered since an outage still makes the answer no', async () => {
    const id = randomUUID();
    await register(own, id, '1.0.0', textOf(buildOf(own, '1.0.0')));
    await superuser.run(`
      update app_process set last_seen_at = now() - interval '10 minutes', seen_since = now() - interval '1 hour';
      update use_counting set counted_from = t, counted_until = t, recorded_at = t from (select now() - interval '10 minutes') as outage (t)`);
    for (const app of others) await start(app, textOf(nextOf(app, '1.1.0')), '1.1.0');
    if (own !== 'webhook-worker')
      await runAs(own, `select record_use($1, $2, 600000, false, false, '', '{}', '{}', '{}', '{}')`, [own, id]);
    await superuser.run(
      `update app_process set last_seen_at = now(), seen_since = now() - interval '10 minutes' where id = $1`,
      [id],
    );
    const answer = async () => {
      await exportTo();
      return canIDeploy(nextOf(own, '1.2.0'));
    };
    const old = own === 'webhook-worker' ? 'supplier-api' : 'webhook-worker';
    expect(await answer()).toEqual({
      exitCode: 1,
      stdout: expect.stringMatching(new RegExp(`^no: [^]*${old} 1\\.0\\.0 \\(test, seen 10 min ago\\)`)),
    });
    await superuser.run(`delete from app_process where app <> $1 and version = '1.0.0'`, [own]);
    expect(await answer()).toMatchObject({ exitCode: 0 });
  });
});

test('a build without a process is in the export only as a named rollback', async () => {
  await start('customer-api', textOf(buildOf('customer-api', '0.9.0')), '0.9.0');
  await superuser.run(`delete from app_process where version = '0.9.0'`);
  const withRollback = () => canIDeploy(buildOf('customer-api', '1.1.0'), '--rollback', '0.9.0');
  await exportTo();
  expect(await withRollback()).toEqual({
    exitCode: 3,
    stdout: expect.stringContaining('Valid contracts of 0.9.0 are not in'),
  });
  await exportTo('--rollback', 'customer-api@0.9.0');
  expect(await withRollback()).toMatchObject({ exitCode: 0 });
  const unknown = await callOperator(env, 'environment', 'export', '--name', 'test', '--rollback', 'customer-api@0.9');
  expect(unknown).toMatchObject({
    exitCode: 0,
    stderr:
      'The database has no contracts of customer-api@0.9, so the export lacks them. It has those of customer-api@0.9.0, customer-api@1.0.0.\n',
  });
});

test('with each app at its limits, the export is read, and gives the answers about honest builds', async () => {
  await countFor100Days();
  const clients = await forTest(connect(database.databaseUrl));
  for (const name of ['supplier', 'customer'] as const) {
    await clients.run(
      `with organization as (insert into organization (name) values ('Harbour') returning id),
         account as (insert into account (interface, organization_id, name) select $1::interface_name, id, 'Harbour' from organization returning id)
       insert into api_client (account_id, interface, client_id, schema_version) select id, $1::interface_name, $1 || '-client-' || n, '2026-11-01'
       from account, generate_series(1, 20) n`,
      [name],
    );
    const app: App = `${name}-api`;
    // Coordinates, whose JSON is longer, and periods.
    await runAs(
      app,
      `select record_use($1, gen_random_uuid(), 0, false, false, n || repeat(E'\\n', 95000), '{}', '{}', '{}', '{}') from generate_series(1, 43) n`,
      [app],
    );
    await runAs(
      app,
      `select register_process($1, gen_random_uuid(), '1.0.' || n, null) from generate_series(1, 1005) n`,
      [app],
    );
    await superuser.run(
      `insert into use_counting (app, process_id, coordinates, coordinates_id, counted_from, counted_until, recorded_at, seen_at, state)
       select $1, gen_random_uuid(), '', (select min(id) from counted_coordinates where app = $1), now() - n * interval '2 minutes',
         now() - n * interval '2 minutes', now(), now() - n * interval '1 minute', 'LOST' from generate_series(1, 20000) n`,
      [app],
    );
    await superuser.run(
      `insert into interface_use (api_client_id, interface, day, version, coordinate, count)
       select id, interface, current_date, '2026-11-01', n || repeat('x', 280), 1 from api_client, generate_series(1, 1000) n
       where interface = $1::interface_name`,
      [name],
    );
  }
  for (const app of appNames)
    for (let number = 0; number < 2; number += 1)
      await start(app, textOf({ ...buildOf(app, `2.0.${number}`), more: 'x'.repeat(1_900_000) }), `2.0.${number}`);
  await exportTo();
  const { size } = statSync(environment);
  expect(size).toBeGreaterThan(30_000_000);
  expect(size).toBeLessThan(64 * 1024 * 1024);
  // Every app has too much.
  expect(await canIDeploy(buildOf('supplier-api', '1.1.0'))).toEqual({
    exitCode: 3,
    stdout: expect.stringMatching(
      /supplier-api is known: \d+ periods count coordinates that are not stored[^]*rows of counting exceed[^]*rows of uses exceed/,
    ),
  });

  // Once the supplier API and the worker have what honest builds have, their answers are theirs again.
  await superuser.run(`
    delete from app_process where app <> 'customer-api' and version <> '1.0.0';
    delete from use_counting where app = 'supplier-api';
    delete from interface_use where interface = 'supplier'`);
  await runAs(
    'supplier-api',
    `select record_use('supplier-api', $1, null, false, false, '2026-11-01 Query.old', '{}', '{}', '{}', '{}')`,
    [randomUUID()],
  );
  await superuser.run(`update use_counting set counted_from = now() - interval '100 days' where app = 'supplier-api'`);
  await exportTo();
  expect(statSync(environment).size).toBeGreaterThan(15_000_000);
  expect(await canIDeploy(buildOf('supplier-api', '1.1.0', 'type Query { a: Int }\n'))).toMatchObject({ exitCode: 0 });
  expect(await canIDeploy(buildOf('customer-api', '1.1.0'))).toMatchObject({ exitCode: 3 });
});
