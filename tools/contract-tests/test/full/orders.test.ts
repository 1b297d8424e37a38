import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, startPostgres, withClient } from '@deedwire/embedded-postgres';
import { commandsOf, runOnce } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { installOrders } from '../support/orders/install-orders.ts';

// The example as its reader copies it: npm installs it outside of the workspace.
const { folder } = await forFile(installOrders());
const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
const page = read('README.md');
const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
const [createSql = '', settings = '', prepare = ''] = commandsOf(page, '1. Create the database', 3);
const [inOne = '', apart = '', receive = ''] = commandsOf(page, '2. Start it', 3);
const [subscribe = '', pay = '', replay = '', portal = ''] = commandsOf(page, '3. Receive a webhook', 4);

const server = await forFile(startPostgres());
const [shopPort, apiPort, receiverPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
const shopUrl = `http://127.0.0.1:${shopPort}`;
const inherited = process.env;
const env: Record<string, string | undefined> = {
  // On a busy machine, any statement can be slow.
  DATABASE_TIMEOUT_MS: '20000',
  PATH: inherited['PATH'],
  NODE_COMPILE_CACHE: inherited['NODE_COMPILE_CACHE'],
  NODE: process.execPath,
  SHOP_PORT: String(shopPort),
  PORT: String(apiPort),
  ADMIN_PORT: '0',
  RECEIVER_PORT: String(receiverPort),
};

/** A text of the example with the ports of this test. */
const withPorts = (text: string): string =>
  text
    .replaceAll(':5432/', `:${new URL(server.url).port}/`)
    .replaceAll(':3000', `:${shopPort}`)
    .replaceAll(':4004', `:${apiPort}`)
    .replaceAll(':4005/', `:${receiverPort}/`);

/** What a command of the page runs, without `npx`, which needs a network. What it builds, the tarballs have. */
const scriptOf = (command: string): string =>
  command
    .replace(/^npx .* build\n/m, '')
    .replaceAll(/^npx -y pnpm@[\d.]+ (\S+)$/gm, (_, name: string) => scripts[name] ?? `${name} is no script`)
    .replaceAll(/\bnode (?=-)/g, '"$NODE" ');

/** Runs a block as the customer or the shop's owner does. */
async function run(block: string): Promise<string> {
  const child = spawn('sh', ['-ec', block], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`${block}\n${stdout}${stderr}`);
  return stdout;
}

/** Starts a command of the page, and ends it with the test. */
function start(command: string): { output: () => string; stop: () => Promise<void> } {
  const child = spawn('sh', ['-c', `exec ${scriptOf(command)}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  onTestFinished(() => void child.kill('SIGKILL'));
  return { output: () => output, stop };
}

/** The variables of the customer's shell. */
const shell = { CUSTOMER: '', SUBSCRIPTION: '' };
const customer = (block: string): Promise<string> =>
  run(`CUSTOMER=${shell.CUSTOMER}\nSUBSCRIPTION=${shell.SUBSCRIPTION}\n. ./customer.sh\n${block}`);

test('a customer of the example signs up, subscribes, receives, replays and opens the portal as its README says', async () => {
  await withClient(server.url, async (client) => {
    for (const statement of createSql.split(';')) await client.query(statement);
    // One login, as most applications have.
    const { rows } = await client.query(
      `select rolsuper or rolcreaterole as "mayMore" from pg_roles where rolname = 'shop'`,
    );
    expect(rows).toEqual([{ mayMore: false }]);
  });
  await writeFile(join(folder, 'customer.sh'), withPorts(read('customer.sh')));
  await run(withPorts(settings));
  await run(scriptOf(prepare));
  const [, databaseUrl = ''] = /^DATABASE_URL=(.*)$/m.exec(await readFile(join(folder, '.env'), 'utf8')) ?? [];

  const processes = apart.trim().split('\n').map(start);
  const [worker] = processes;
  const receiver = start(receive);
  const receivedOf = (type: string): string[] => receiver.output().match(new RegExp(`^${type} .*$`, 'gm')) ?? [];
  await expect
    .poll(() =>
      fetch(shopUrl).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(404);
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${apiPort}/customer/graphql`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .not.toBe(0);
  await expect.poll(receiver.output).toContain('The receiver listens');

  const told = await run(`${withPorts(subscribe)}\necho "$CUSTOMER $SUBSCRIPTION"`);
  [shell.CUSTOMER = '', shell.SUBSCRIPTION = ''] = told.trim().split(' ');
  expect(shell.SUBSCRIPTION).toMatch(/^gid:\/\/shop\/WebhookSubscription\/\d+$/);
  expect(receivedOf('handshake')).toHaveLength(1);

  const answers = await customer(pay);
  expect(answers).toContain('"status":"PAID"');
  expect(answers).toContain('"status":"SHIPPED"');
  expect(answers).toContain('The balance is too low.');
  await expect.poll(() => receivedOf('order.shipped')).toHaveLength(1);
  const [paid = ''] = receivedOf('order.paid');
  expect(JSON.parse(paid.slice('order.paid '.length))).toEqual({
    orderId: expect.stringMatching(/^[\da-f-]{36}$/),
    status: 'PAID',
    totalCents: 1_990,
  });
  // Of the order whose payment was rolled back, there is nothing.
  expect(await runOnce(databaseUrl, 'select status from "order" order by total_cents')).toEqual([
    { status: 'SHIPPED' },
    { status: 'OPEN' },
  ]);
  const countEvents = `select event_type as type, count(*)::int from deedwire.webhook_event where event_type like 'order.%' group by 1 order by 1`;
  expect(await runOnce(databaseUrl, countEvents)).toEqual([
    { type: 'order.paid', count: 1 },
    { type: 'order.shipped', count: 1 },
  ]);

  expect(JSON.parse(await customer(replay))).toMatchObject({ data: { replayWebhookEvents: { userErrors: [] } } });
  await expect.poll(() => receivedOf('order.shipped')).toEqual(Array(2).fill(receivedOf('order.shipped')[0]));
  await expect.poll(() => receivedOf('order.paid')).toEqual([paid, paid]);
  const forged = await fetch(`http://127.0.0.1:${receiverPort}/webhooks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"type":"order.paid"}',
  });
  expect(forged.status).toBe(401);

  expect(await openPortal((await customer(portal)).trim())).toEqual({ status: 200, account: 'Ada' });

  // A stopped worker stops nothing. The next one, in one process with the shop, delivers what waited.
  await worker?.stop();
  const late = await customer(pay.split('\n').slice(0, 2).join('\n'));
  expect(late).toContain('"status":"PAID"');
  for (const each of processes) await each.stop();
  expect(receivedOf('order.paid')).toHaveLength(2);
  const all = start(inOne);
  await expect.poll(() => receivedOf('order.paid'), { message: all.output() }).toHaveLength(3);
  expect(await customer(replay)).toContain('"userErrors":[]');
});

/** Opens the page of a link as a browser does, and asks whose session it is. */
async function openPortal(address: string): Promise<object> {
  const { headers } = await fetch(address, { redirect: 'manual' });
  const link = new URL(headers.get('location') ?? '');
  const response = await fetch(link);
  const session = await fetch(new URL('session', link), {
    method: 'POST',
    headers: { Origin: link.origin, 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: new URLSearchParams(link.hash.slice(1)).get('link') }),
  });
  const { account }: { account: { name: string } } = JSON.parse(await session.text());
  return { status: response.status, account: account.name };
}
