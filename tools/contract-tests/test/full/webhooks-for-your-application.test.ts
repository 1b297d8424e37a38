import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { findFreePort, startPostgres, withClient } from '@deedwire/embedded-postgres';
import { commandsOf, compileBlocks, runOnce, startReceiver } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { npmInstall } from '../support/installed-packages.ts';
import { readPackedPackages, tarballsOf } from '../support/packed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// What a reader of the page does, in an application outside of the workspace.

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const page = readFileSync(join(workspaceRoot, 'docs/webhooks-for-your-application.md'), 'utf8');
const [, install = ''] = commandsOf(page, 'Install', 2);
const [init = '', event = '', promise = ''] = commandsOf(page, '1. Describe the event', 3);
const [dev = '', start = '', pay = ''] = commandsOf(page, '3. Run it', 3);
const [, received = ''] = /^```text\n(received [^]*?)^```$/m.exec(page) ?? [];
const [testOfShop = ''] = commandsOf(page, '4. Test it', 1);
const [createAccounts = ''] = commandsOf(page, 'Existing customers', 1);
const [keyRoute = '', subscribe = '', portalRoute = ''] = commandsOf(page, 'Let customers subscribe', 3);
const [makeKey = ''] = commandsOf(page, 'Settings', 1);
const [commands = '', askReady = ''] = commandsOf(page, 'One image', 2);
const [remove = ''] = commandsOf(page, 'Remove it', 1);
const [, diff = ''] = /^```diff\n([^]*?)^```$/m.exec(page) ?? [];

const tarballs = await tarballsOf(['@deedwire/webhook-signing', '@deedwire/service']);
const appPort = await findFreePort();
/** A block, with the port of this test. */
const withPort = (block: string): string =>
  block.replaceAll('127.0.0.1:3000', `127.0.0.1:${appPort}`).replace('listen(3000)', `listen(${appPort})`);

const database = await forFile(startPostgres());
const shop = await forFile(createShop());
const tables = `
  create table customer (id text primary key, name text not null);
  create table "order" (id uuid primary key, customer_id text not null, status text not null default 'OPEN', total int not null)`;
const orderOfPage = /[\da-f-]{36}/.exec(pay)?.[0] ?? '';
await runOnce(shop.url, tables);
const addOrder = (id: string, customer: string): Promise<unknown> =>
  runOnce(shop.url, `insert into "order" (id, customer_id, total) values ('${id}', '${customer}', 1990)`);
await addOrder(orderOfPage, 'dev-customer');

/** The application, and its database, whose owner can create no roles. */
async function createShop() {
  const home = await mkdtemp(join(tmpdir(), 'deedwire-page-'));
  const folder = join(home, 'my-shop');
  await mkdir(join(folder, 'vendor'), { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'my-shop', private: true, type: 'module' }));
  await npmInstall(folder, ['express@5', 'pg@8', '@types/express@5', '@types/pg@8']);
  for (const tarball of tarballs) await copyFile(tarball, join(folder, 'vendor', basename(tarball)));
  await withClient(database.url, async (client) => {
    await client.query(`create role shop login password 'secret'`);
    await client.query('create database shop owner shop');
  });
  const url = new URL(database.url);
  Object.assign(url, { username: 'shop', password: 'secret', pathname: '/shop' });
  return { folder, url: url.href, remove: () => rm(home, { recursive: true }) };
}

const run = (block: string, env: Record<string, string> = {}): Promise<string> =>
  succeed('sh', ['-ec', withPort(block)], {
    cwd: shop.folder,
    env: { DATABASE_URL: shop.url, npm_config_audit: 'false', npm_config_prefer_offline: 'true', ...env },
  });

/** Starts a command of the page, and ends it with the test. */
function startProcess(
  command: string,
  env: Record<string, string> = {},
): { child: ChildProcess; output: () => string } {
  const inherited = process.env;
  const bin = join(shop.folder, 'node_modules/.bin');
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd: shop.folder,
    env: {
      ...inherited,
      PATH: `${bin}${delimiter}${inherited['PATH']}`,
      DATABASE_URL: shop.url,
      // On a busy machine, any statement can be slow.
      DATABASE_TIMEOUT_MS: '20000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return { child, output: () => output };
}

const statusOf = (url: string): Promise<number> =>
  fetch(url, { redirect: 'manual' }).then(
    ({ status }) => status,
    () => 0,
  );

const startApplication = async (env: Record<string, string> = {}): Promise<void> => {
  startProcess(start.trim(), env);
  await expect.poll(() => statusOf(`http://127.0.0.1:${appPort}`)).toBe(404);
};

test('the lines of the page make an application that compiles, with 20 lines at most', async () => {
  // The command that packs prints them as one line.
  const { printed } = await readPackedPackages();
  const paths = install
    .trim()
    .replaceAll(
      /\S+\/(\S+)\*\.tgz/g,
      (_, name: string) => `'${tarballs.find((tarball) => basename(tarball).startsWith(name))}'`,
    );
  expect(printed).toContain(paths.replaceAll('\n', ' && '));
  await run(install);
  await run(init);
  const file = join(shop.folder, 'deedwire/service.mjs');
  const template = await readFile(file, 'utf8');
  const changed = template.replace(/^\/\*\* An example.*\n(export const orderPaid = [^]*?^}\);\n)/m, event);
  // The block is what the command writes.
  expect(changed).toContain(event);
  expect(template).toContain(event);
  await expect(run('npx --no-install deedwire check')).rejects.toThrow('order.paid/2026-11-01.json is out of date');
  const promised = ['events/order.paid/2026-11-01.json', 'customer/versions.json', 'events/versions.json'];
  expect(await run(promise)).toBe(promised.map((path) => `wrote  deedwire/${path}\n`).join(''));
  expect(await run('npx --no-install deedwire check')).toMatch(/^ok /);
  const lines = diff.split('\n').filter((line) => line !== '');
  const added = [...lines.filter((line) => line.startsWith('+')), ...`${keyRoute}${portalRoute}`.trim().split('\n')];
  expect(added.length).toBeLessThanOrEqual(20);
  const application = lines.map((line) => line.slice(1)).join('\n');
  await writeFile(join(shop.folder, 'app.mjs'), withPort(`${application}\n${keyRoute}${portalRoute}`));
  await writeFile(join(shop.folder, 'shop.test.mjs'), testOfShop);
  const options = { allowJs: true, checkJs: true, noImplicitAny: false };
  expect(await compileBlocks(shop.folder, '*.mjs', options)).toBe('');
  // Nothing of the compiler stays in the application.
  await rm(join(shop.folder, 'tsconfig.json'));
});

test('`dev --receiver` prints the event of the order that is paid', async () => {
  const { output } = startProcess(dev.trim(), { CUSTOMER_API_PORT: '0' });
  await expect.poll(output).toContain('Deedwire is running');
  await startApplication();
  await run(pay);
  await expect.poll(output).toContain(received);
});

test('the test of the page passes', async () => {
  const ran = await run('node --test --test-reporter=spec shop.test.mjs', { DATABASE_URL: database.url });
  expect(ran).toContain('pass 1\n');
});

test('each process runs by its command, and a customer subscribes and opens the portal', async () => {
  const [migrate = '', ...servers] = commands.trim().split('\n');
  const ports = { worker: await findFreePort(), PORT: await findFreePort(), ADMIN_PORT: await findFreePort() };
  const settings = {
    PORTAL_ORIGIN: `http://127.0.0.1:${ports.PORT}`,
    WEBHOOK_SECRET_KEYS: (await run(makeKey)).trim(),
    // For a receiver on this machine.
    NODE_ENV: 'development',
    WEBHOOK_CALLBACK_POLICY: 'development',
  };
  await run(`PATH=$PWD/node_modules/.bin:$PATH\n${migrate}`);
  for (const server of servers) {
    const isWorker = server.endsWith('worker');
    const of = isWorker ? { ADMIN_PORT: ports.worker } : { PORT: ports.PORT, ADMIN_PORT: ports.ADMIN_PORT };
    startProcess(server, {
      ...settings,
      ...Object.fromEntries(Object.entries(of).map(([name, port]) => [name, String(port)])),
    });
  }
  const ready = askReady.replace(':4003/', `:${ports.worker}/`).replace(':4104/', `:${ports.ADMIN_PORT}/`);
  await expect.poll(() => run(ready).catch(() => '')).toMatch(/ready[^]*ready/);
  await startApplication({ PORTAL_ORIGIN: settings.PORTAL_ORIGIN });

  // A customer who signed up before the application had the line with `createAccount`.
  await runOnce(shop.url, `insert into customer values ('c-2', 'Grace')`);
  await runOnce(shop.url, createAccounts);
  expect(await runOnce(shop.url, `select external_id from deedwire.account where external_id = 'c-2'`)).toHaveLength(1);

  const response = await fetch(`http://127.0.0.1:${appPort}/customers/c-2/api-keys`, { method: 'POST' });
  const key = JSON.parse(await response.text());
  const receiver = await forTest(startReceiver());
  const subscribed = await run(subscribe.replace('https://receiver.example/webhooks', receiver.url), {
    WEBHOOKS_URL: settings.PORTAL_ORIGIN,
    CLIENT_ID: key.client_id,
    API_KEY: key.api_key,
    ORGANIZATION_ID: key.organization_id,
  });
  const { webhookSecret, userErrors } = JSON.parse(subscribed).data.createWebhookSubscription;
  expect(userErrors).toEqual([]);

  const order = '0b9f8c2e-8f8b-4b43-9a53-2f7d0e6f1c11';
  await addOrder(order, 'c-2');
  await run(pay.split('\n')[1]?.replace(orderOfPage, order) ?? '');
  const [delivery] = await receiver.waitFor(1);
  const { body, headers } = delivery ?? { body: Buffer.alloc(0), headers: {} };
  verifyWebhook({ body, headers, secret: webhookSecret, prefix: 'X-MyShop' });
  expect(JSON.parse(body.toString())).toMatchObject({
    id: expect.stringMatching(/^gid:\/\/my-shop\//),
    type: 'order.paid',
    data: { orderId: order, status: 'PAID', total: 1990 },
  });

  const { headers: redirect } = await fetch(`http://127.0.0.1:${appPort}/customers/c-2/webhooks`, {
    redirect: 'manual',
  });
  const link = new URL(redirect.get('location') ?? '');
  expect(link.href).toContain(`${settings.PORTAL_ORIGIN}/customer/portal/`);
  expect(await (await fetch(link)).text()).toContain('<title>');
  for (const [, command = ''] of page.matchAll(/`(npx --no-install deedwire operator [^`]+)`/g))
    expect(await run(command.replace('c-1', 'c-2'), settings)).toMatch(/X-MyShop-API-Key: my|\/customer\/portal\//);
});

test('the mistakes of the page have the errors that it names', async () => {
  const program = `
    import { append, fromPg } from '@deedwire/service';
    import pg from 'pg';
    import { orderPaid } from './deedwire/service.mjs';

    const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
    const client = await pool.connect();
    const order = { id: '${orderOfPage}', status: 'PAID', total: 1 };
    const errorOf = async (session, event, account, snapshot) => {
      await client.query('begin');
      const { name, code } = await append(session, event, account, snapshot).catch((error) => error);
      await client.query('rollback');
      return code.startsWith('DW') ? code : name;
    };
    console.log(await errorOf(fromPg(pool), orderPaid, 'c-2', { order }));
    console.log(await errorOf(fromPg(client), orderPaid, 'c-9', { order }));
    console.log(await errorOf(fromPg(client), { ...orderPaid, type: 'order.shipped' }, 'c-2', { order }));
    console.log(await errorOf(fromPg(client), orderPaid, 'c-2', { order: { ...order, status: undefined } }));
    client.release();
    await pool.end();`;
  await writeFile(join(shop.folder, 'mistakes.mjs'), program);
  const errors = (await run('node mistakes.mjs')).trim().split('\n');
  expect(errors).toEqual(['NotInTransactionError', 'DW002', 'DW001', 'SnapshotRefusedError']);
  const [, mistakes = ''] = /^## Mistakes\n([^]*?)^## /m.exec(page) ?? [];
  for (const error of errors) expect(mistakes).toContain(`\`${error}\``);
});

test('`remove` prints statements that leave what the application has', async () => {
  const [ofOwner = ''] = (await run(remove)).split('-- By a login that may drop roles');
  await runOnce(shop.url, ofOwner);
  const names = `select schemaname || '.' || tablename as name from pg_tables where schemaname not in ('information_schema', 'pg_catalog') order by 1`;
  expect(await runOnce(shop.url, names)).toEqual([{ name: 'public.customer' }, { name: 'public.order' }]);
});
