import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startPostgres, withClient } from '@deedwire/embedded-postgres';
import { startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { linesFor, quietNpm, startEmptyRegistry } from '../support/install-lines.ts';
import { npmInstall } from '../support/installed-packages.ts';
import { tarballsOf } from '../support/packed-packages.ts';

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/** The application: it signs up a customer, lets it subscribe, and pays an order in a transaction that commits and in one that does not. */
const application = `
import { append, createAccount, fromPg, startInterface, startWorker, wake } from '@deedwire/service';
import pg from 'pg';
import { orderPaid, service } from './deedwire/service.mjs';

process.loadEnvFile('deedwire/dev.env');
const [callbackUrl, paid, refunded] = process.argv.slice(2);
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
await client.query('create table customer (id text primary key); create table "order" (id uuid primary key)');
await client.query('begin');
await client.query("insert into customer values ('c-1')");
await createAccount(fromPg(client), { interface: 'customer', externalId: 'c-1', name: 'Ada' });
await client.query('commit');
const { rows: [key] } = await client.query("select * from deedwire.create_api_key('customer', 'c-1', 'first')");

const app = import.meta.url;
const api = await startInterface(service, 'customer', { app });
const worker = await startWorker(service, { app });
await Promise.all([api.ready, worker.ready]);

const response = await fetch(api.url + '/customer/graphql', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'X-MyShop-API-Key': key.api_key,
    'X-MyShop-Client-Id': key.client_id,
    'X-MyShop-Organization-Id': key.organization_id,
    'X-MyShop-Schema-Version': '2026-11-01',
  },
  body: JSON.stringify({
    query: \`mutation ($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { webhookSecret userErrors { message } }
    }\`,
    variables: { input: { callbackUrl, eventTypes: [{ type: 'order.paid' }] } },
  }),
});
process.stdout.write(await response.text());

for (const [id, end] of [[refunded, 'rollback'], [paid, 'commit']]) {
  await client.query('begin');
  await client.query('insert into "order" values ($1)', [id]);
  await append(fromPg(client), orderPaid, 'c-1', { order: { id, status: 'PAID', total: 1250 } });
  await client.query(end);
}
await wake(fromPg(client), 'c-1');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
await Promise.all([api.stop(), worker.stop(), client.end()]);
`;

/**
 * A folder of an application, with other releases of what the package depends on, in which the package is installed by the line that
 * `pnpm packages` prints, and the database of the application.
 */
async function installService() {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-service-'));
  const project = join(folder, 'my-shop');
  await mkdir(project);
  const dependencies = { graphql: '^16.0.0', pg: '^8.0.0', zod: '^3.0.0' };
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name: 'my-shop', private: true, type: 'module', dependencies }),
  );
  await npmInstall(project, []);
  const registry = await startEmptyRegistry();
  await writeFile(join(project, '.npmrc'), `@deedwire:registry=${registry.url}\n`);
  const [line = 'false'] = (await linesFor('npm')).filter((each) => /\/deedwire-service-[^/]*'$/.test(each));
  await succeed('sh', ['-ec', line], { cwd: project, env: quietNpm });
  await registry.close();

  const server = await startPostgres();
  await withClient(server.url, async (client) => {
    await client.query(`create role shop_owner login password 'x'`);
    await client.query('create database shop owner shop_owner');
  });
  const url = new URL(server.url);
  Object.assign(url, { username: 'shop_owner', password: 'x', pathname: '/shop' });
  return {
    project,
    askedRegistry: registry.asked,
    databaseUrl: url.href,
    async close() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const shop = await forFile(installService());
const deedwire = (...command: string[]): Promise<string> =>
  succeed('npx', ['--no-install', 'deedwire', ...command], {
    cwd: shop.project,
    env: { DATABASE_URL: shop.databaseUrl },
  });

const versionOf = async (name: string): Promise<string> =>
  JSON.parse(await readFile(join(shop.project, 'node_modules', name, 'package.json'), 'utf8')).version;

test('the printed line of npm installs it without a request for a package of ours', async () => {
  expect(shop.askedRegistry).toEqual([]);
  expect(await versionOf('@deedwire/service')).toMatch(/^0\./);
});

test('beside zod 3 and graphql 16, it refuses a schema of that zod, and names what to use', async () => {
  expect(await versionOf('graphql')).toMatch(/^16\./);
  expect(await versionOf('zod')).toMatch(/^3\./);
  const script = `
    import { defineEvent } from '@deedwire/service';
    import { z } from 'zod';
    defineEvent('order.paid', {
      description: 'An order was paid.',
      interfaces: ['customer'],
      snapshot: z.object({ id: z.string() }),
      sample: () => ({ id: '1' }),
      versions: {},
    });`;
  await expect(
    succeed(process.execPath, ['--input-type=module', '--eval', script], { cwd: shop.project }),
  ).rejects.toThrow(
    'TypeError: order.paid: snapshot is made by another copy of zod. Make the schemas of events with the `z` that @deedwire/service exports.',
  );
});

test('beside graphql 16 without the override of the line, an interface names it', async () => {
  const project = await mkdtemp(join(shop.project, '../without-override-'));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await npmInstall(project, ['graphql@16', ...(await tarballsOf(['@deedwire/webhook-signing']))]);
  await npmInstall(project, await tarballsOf(['@deedwire/service']));
  const start =
    'npx --no-install deedwire init && set -a && . deedwire/dev.env && npx --no-install deedwire interface customer';
  const env = { DATABASE_URL: shop.databaseUrl, NODE_ENV: 'development', WEBHOOK_CALLBACK_POLICY: 'development' };
  await expect(succeed('sh', ['-ec', start], { cwd: project, env })).rejects.toThrow(
    'Set "overrides": { "@deedwire/service": { "graphql": "^17" } } in package.json',
  );
});

test('`init` writes the files of a service, and replaces none', async () => {
  const files = ['service.mjs', 'customer/2026-11-01.graphql', 'dev.env', '.gitignore'].map(
    (name) => `deedwire/${name}`,
  );
  expect(await deedwire('init')).toBe(files.map((file) => `wrote  ${file}\n`).join(''));
  const key = await readFile(join(shop.project, 'deedwire/dev.env'), 'utf8');
  expect(await deedwire('init')).toBe(files.map((file) => `kept   ${file}\n`).join(''));
  expect(await readFile(join(shop.project, 'deedwire/dev.env'), 'utf8')).toBe(key);
});

test('the commands name an interface, a service and a command that do not exist', async () => {
  await expect(deedwire('interface', 'vendor')).rejects.toThrow(
    'the service has no interface vendor. It has customer.',
  );
  await expect(deedwire('--service', 'none.mjs', 'worker')).rejects.toThrow('none.mjs does not exist');
  await expect(deedwire('migrates')).rejects.toThrow(`unknown command 'migrates'`);
});

test('delivers the event of a transaction that commits, beside the tables and by the login of the application', async () => {
  const receiver = await forTest(startReceiver());
  await deedwire('migrate');
  await writeFile(join(shop.project, 'app.mjs'), application);
  const [paid, refunded] = [randomUUID(), randomUUID()];
  const app = spawn(process.execPath, ['app.mjs', receiver.url, paid, refunded], {
    cwd: shop.project,
    env: {
      ...process.env,
      ADMIN_PORT: '0',
      DATABASE_URL: shop.databaseUrl,
      LOG_LEVEL: 'error',
      NODE_ENV: 'development',
      PORT: '0',
      WEBHOOK_CALLBACK_POLICY: 'development',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(app, 'exit');
  const output = text(app.stdout);
  const [delivery] = await receiver.waitFor(1);
  app.stdin.end('done\n');
  expect(await ended).toEqual([0, null]);
  const { data } = JSON.parse(await output);
  expect(data.createWebhookSubscription.userErrors).toEqual([]);

  const { body, headers } = delivery ?? { body: Buffer.alloc(0), headers: {} };
  verifyWebhook({ body, headers, secret: data.createWebhookSubscription.webhookSecret, prefix: 'X-MyShop' });
  expect(JSON.parse(body.toString())).toMatchObject({
    type: 'order.paid',
    version: '2026-11-01',
    data: { orderId: paid, status: 'PAID', total: 1250 },
  });
  expect(receiver.deliveries).toHaveLength(1);
  expect(await tablesIn('public')).toEqual(['customer', 'order']);

  const statements = await deedwire('remove');
  expect(statements).toContain(
    'drop role if exists my_shop_customer_api, my_shop_webhook_worker, my_shop_operator, my_shop_application;',
  );
  // This login may drop no roles, and its database has none.
  const [ofOwner = ''] = statements.split('-- By a login that may drop roles');
  await withClient(shop.databaseUrl, (client) => client.query(ofOwner));
  expect(await tablesIn('deedwire')).toEqual([]);
  expect(await tablesIn('public')).toEqual(['customer', 'order']);
});

/** The names of the tables of a schema. */
function tablesIn(schema: string): Promise<string[]> {
  return withClient(shop.databaseUrl, async (client) => {
    const { rows } = await client.query<{ tablename: string }>(
      'select tablename from pg_tables where schemaname = $1 order by 1',
      [schema],
    );
    return rows.map(({ tablename }) => tablename);
  });
}
