import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { appOf } from '@deedwire/core';
import { interfaceNames } from '@deedwire/core/test-service';
import { callOperator, startTestSystem } from '@deedwire/dev-environment/harness';
import { createRegistration } from '@deedwire/service-runtime';
import { createStore } from '@deedwire/store';
import { connect, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

interface Environment {
  digest: string;
  processes: { app: string; version: string; digest: string | null }[];
  contracts: Record<string, object>;
  pins: object[];
  uses: { client: string; coordinate: string | null; count: number }[];
  counting: { app: string; from: string; until: string; coordinates: string }[];
  coordinateSets: Record<string, string>;
  gaps: { app: string; reason: string }[];
  rowCounts: Record<string, number>;
}

const apps = [...interfaceNames.map(appOf), 'webhook-worker'].toSorted();
const t = await forFile(startTestSystem());
const { path: folder } = await forFile(temporaryFolder('environment'));
const env = { DATABASE_URL: await t.database.urlFor('operator') };

async function exported(): Promise<Environment> {
  const { exitCode, stdout, stderr } = await callOperator(env, 'environment', 'export', '--name', 'test');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

const versionIn = async (workspace: string): Promise<string> =>
  JSON.parse(await readFile(join(workspaceRoot, workspace, 'package.json'), 'utf8')).version;
/** As its package says. */
const version = await versionIn('tools/test-service');

const ask = (query = '{ __typename }') => postGraphql(t.urls.customer, t.accounts.customer.credential, { query });
const useOf = ({ uses }: Environment, coordinate: string | null = null): number =>
  uses.find((use) => use.client === t.accounts.customer.credential.clientId && use.coordinate === coordinate)?.count ??
  0;
/** As if the customer API had counted earlier. */
const letTimePass = (interval: string) =>
  t.sql(
    `update use_counting set counted_from = counted_from - $1::interval, counted_until = counted_until - $1::interval,
       recorded_at = recorded_at - $1::interval, seen_at = seen_at - $1::interval
     where app = 'customer-api'`,
    [interval],
  );

test('the export names what runs, in one digest', async () => {
  const file = join(folder, 'test.json');
  expect(await callOperator(env, 'environment', 'export', '--name', 'test', '--out', file)).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
  expect(await readdir(folder)).toEqual(['test.json']);
  const environment: Environment = JSON.parse(await readFile(file, 'utf8'));
  const { digest, ...rest } = environment;
  expect(digest).toBe(createHash('sha256').update(JSON.stringify(rest)).digest('hex'));
  const expectedApps = [...interfaceNames.map(appOf), 'webhook-worker'];
  const processes = apps.map((app) => ({ app, version, digest: null }));
  expect(environment).toMatchObject({ formatVersion: 1, environment: 'test', expectedApps, processes, gaps: [] });
  expect(environment.counting).toContainEqual(
    expect.objectContaining({
      app: 'customer-api',
      coordinates: expect.stringMatching(/^\d+$/),
    }),
  );
  expect(Object.values(environment.coordinateSets)).toContainEqual(
    expect.stringContaining('2026-11-01 WebhookDelivery.'),
  );
  const { clientId } = t.accounts.customer.credential;
  expect(environment.pins).toContainEqual({
    id: clientId,
    account: t.accounts.customer.id,
    interface: 'customer',
    event: null,
    version: '2026-11-01',
  });
  const lists = { ...environment, contracts: [] } as unknown as Record<string, unknown[]>;
  const counted = Object.keys(environment.rowCounts).map((name) => [name, lists[name]?.length]);
  expect(environment.rowCounts).toEqual(Object.fromEntries(counted));
});

test('the export has the contracts of a registered build', async () => {
  const file = join(folder, 'contracts.json');
  const text = '{\n  "app": "supplier-api"\n}\n';
  await writeFile(file, text);
  const digest = createHash('sha256').update(text).digest('hex');
  const database = createStore({ databaseUrl: await t.database.urlFor('supplier_api'), applicationName: 'test' });
  const build = { database, app: 'supplier-api', id: randomUUID(), version: '9.9.9' } as const;
  const register = createRegistration({ ...build, contracts: pathToFileURL(file) });
  await register();
  await register();
  await database.close();
  const { processes, contracts } = await exported();
  expect(processes).toContainEqual(expect.objectContaining({ app: 'supplier-api', version: '9.9.9', digest }));
  expect(contracts).toEqual({ [digest]: { app: 'supplier-api' } });
  await t.sql(`delete from app_process where version = '9.9.9'`);
});

test('an API that ends stores what it has counted, and is gone', async () => {
  const before = useOf(await exported());
  await ask();
  await ask();
  t.system.apps['customer-api'].kill('SIGTERM');
  await t.system.apps['customer-api'].ended;
  await letTimePass('3 minutes');
  const ended = await exported();
  expect(useOf(ended)).toBe(before + 2);
  expect(ended.processes.map(({ app }) => app)).toEqual(apps.filter((app) => app !== 'customer-api'));
  expect(ended.gaps.filter(({ reason }) => reason !== 'no process counted')).toEqual([]);
  await t.system.restart('customer-api');
});

test('an API that is killed leaves a gap, and not a smaller count', async () => {
  const before = useOf(await exported());
  await ask();
  t.system.apps['customer-api'].kill('SIGKILL');
  await t.system.apps['customer-api'].ended;
  await letTimePass('3 minutes');
  const killed = await exported();
  expect(useOf(killed)).toBe(before);
  expect(killed.gaps).toContainEqual(
    expect.objectContaining({ app: 'customer-api', reason: 'a process ended without storing its counts' }),
  );
  await t.system.restart('customer-api');
});

test('apps of a release that does not register are live processes without a build', async () => {
  const url = new URL(await t.database.urlFor('customer_api'));
  url.searchParams.set('application_name', 'deedwire-customer-api-costs');
  const old = await connect(url.href);
  await t.sql(`insert into webhook_worker (name, leased_until) values ('old', now() + interval '1 hour')`);
  const { processes } = await exported();
  await old.close();
  await t.sql(`delete from webhook_worker where name = 'old'`);
  const unknown = processes.filter((process) => process.version === 'unknown');
  expect(unknown.map(({ app, digest }) => [app, digest])).toEqual([
    ['customer-api', null],
    ['webhook-worker', null],
  ]);
});

test('an API whose login cannot register is a live process without a build', async () => {
  await t.sql('create role owner_of_tables');
  await t.sql(`create role other_login login password 'x' in role owner_of_tables`);
  await t.sql('alter table app_process owner to owner_of_tables');
  const url = new URL(await t.database.urlFor('customer_api'));
  Object.assign(url, { username: 'other_login', password: 'x' });
  url.searchParams.set('application_name', 'deedwire-customer-api');
  const api = await connect(url.href);
  const { processes } = await exported();
  await api.close();
  await t.sql('alter table app_process owner to current_user');
  await t.sql('drop role other_login');
  await t.sql('drop role owner_of_tables');
  expect(processes.filter((process) => process.version === 'unknown')).toMatchObject([
    { app: 'customer-api', digest: null },
  ]);
});

test('a worker that was killed hides no worker of a release that does not register', async () => {
  t.system.apps['webhook-worker'].kill('SIGKILL');
  await t.system.apps['webhook-worker'].ended;
  await t.sql(`update webhook_worker set leased_until = now() - interval '1 minute'`);
  await t.sql(`insert into webhook_worker (name, leased_until) values ('old', now() + interval '1 hour')`);
  const { processes } = await exported();
  await t.sql(`delete from webhook_worker where name = 'old'`);
  const workers = processes.filter(({ app }) => app === 'webhook-worker');
  expect(workers.map((worker) => worker.version)).toEqual([version, 'unknown']);
});

test('a command of the operator records its build with a write, and not when it reads', async () => {
  await callOperator(env, 'organization', 'list');
  expect((await exported()).processes.map(({ app }) => app)).not.toContain('operator-cli');
  for (let write = 0; write < 2; write += 1) await callOperator(env, 'organization', 'create', '--name', 'Harbour');
  const recorded = (await exported()).processes.filter(({ app }) => app === 'operator-cli');
  expect(recorded).toMatchObject([{ version: await versionIn('apps/operator-cli'), digest: null }]);
});

// No version ends yet: the unit test of the action has versions that do.
test('`version usage` says that no version ends', async () => {
  expect(await callOperator(env, 'version', 'usage', '--sunset-within', '2026-12-31')).toEqual({
    exitCode: 0,
    stdout: 'No client or subscription uses a version whose sunset is until 2026-12-31.\n',
    stderr: '',
  });
  expect((await callOperator(env, 'version', 'usage')).exitCode).toBe(2);
});

test('`version usage` exits with 3, and not as if somebody used them, if the database is unavailable', async () => {
  const unavailable = { DATABASE_URL: 'postgres://operator@127.0.0.1:1/deedwire' };
  expect(await callOperator(unavailable, 'version', 'usage', '--sunset-within', '2026-12-31')).toEqual({
    exitCode: 3,
    stdout: '',
    stderr:
      'error: Who uses versions that end until 2026-12-31 is unknown. (No PostgreSQL server accepts connections at 127.0.0.1:1. Start it, or correct the URL of the database. (connect ECONNREFUSED 127.0.0.1:1))\n',
  });
});
