import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { issueCredential } from '@deedwire/actions';
import { isRequestHeaderName } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createHarness, joinSharedSystem } from '@deedwire/dev-environment/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { supplierInterface } from '@deedwire/test-service/supplier-interface';
import {
  acknowledge,
  compileCache,
  eventually,
  listen,
  missing,
  type Receiver,
  startReceiver,
} from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret, isWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createInterfaceClient } from '../support/interface-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const t = await forFile(joinSharedSystem());
beforeEach(() => t.forgetHandshakes());

const packageFolder = fileURLToPath(new URL('../../../../packages/webhook-receiver/', import.meta.url));
const bin = join(packageFolder, 'src/bin.ts');
const { path: folder } = await forFile(temporaryFolder('receiver-command'));

const customer = createInterfaceClient(t, 'customer', '2026-11-01');
const { clientId, apiKey, organizationId } = t.accounts.customer.credential;

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    ...compileCache,
    DEEDWIRE_URL: t.urls.customer,
    HEADER_PREFIX: 'X-Service',
    CLIENT_ID: clientId,
    API_KEY: apiKey,
    ORGANIZATION_ID: organizationId,
    XDG_STATE_HOME: folder,
    ...more,
  };
}

const { credential: ofSupplier } = t.accounts.supplier;
const supplier = {
  DEEDWIRE_URL: t.urls.supplier,
  CLIENT_ID: ofSupplier.clientId,
  API_KEY: ofSupplier.apiKey,
  ORGANIZATION_ID: ofSupplier.organizationId,
};

function startCommand(args: readonly string[], env = environment()) {
  const child = spawn(process.execPath, ['--conditions=deedwire-source', bin, ...args], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]).then(([[exitCode], stderr]) => ({
    exitCode,
    stdout: output,
    // A message has at most 80 columns.
    stderr: stderr.replaceAll('\n  ', ' '),
  }));
  return { child, output: () => output, ended };
}

const command = (args: readonly string[], env?: Record<string, string>) => startCommand(args, env).ended;

const openReceiver = (): Promise<Receiver> => forTest(startReceiver());

/** Sends test events to the one listener of the account. */
async function sendEvents(count: number): Promise<void> {
  // `listen` names a loss before it creates another listener.
  const id = await eventually(async () => {
    const [listener] = await customer.request<{ id: string }[]>('{ webhookListeners { id } }');
    return (listener ?? missing()).id;
  });
  for (let index = 0; index < count; index += 1)
    await customer.mutate('sendTestWebhookEvent', 'webhookEventId', { subscriptionId: id });
}

interface Subscription {
  id: string;
  callbackUrl: string;
  requestHeaderName: string | null;
  headerState: string | null;
  eventTypes: { type: string; version: string }[];
}

async function subscriptionsTo(url: string): Promise<Subscription[]> {
  const query =
    '{ webhookSubscriptions(first: 20) { nodes { id callbackUrl requestHeaderName headerState eventTypes { type version } } } }';
  const { nodes } = await customer.request<{ nodes: Subscription[] }>(query);
  return nodes.filter(({ callbackUrl }) => callbackUrl === url);
}

const from = (path: string): string => JSON.stringify(pathToFileURL(join(packageFolder, 'src', path)).href);

async function writeModule(name: string, on: string, more = ''): Promise<string> {
  await writeFile(
    join(folder, name),
    `import * as events from ${JSON.stringify(import.meta.resolve('../support/order-events.ts'))};
    import { createWebhookReceiver } from ${from('index.ts')};
    import { memoryStore } from ${from('memory.ts')};
    export const receiver = createWebhookReceiver({
      events,
      prefix: 'X-Service',
      secrets: [process.env.WEBHOOK_SECRET], store: memoryStore(), on: ${on} });
    ${more}`,
  );
  return join(folder, name);
}

const created = `'api_key.created': { '2026-11-01': () => {} }`;

describe('subscribe', () => {
  test('creates and updates the subscription to exactly what the handlers need', async () => {
    const { url } = await openReceiver();
    const module = await writeModule('first.mjs', `{ ${created}, 'api_key.revoked': { '2026-11-01': () => {} } }`);
    const args = ['subscribe', '--url', url, '--module', module];
    const plan = 'a new subscription\n  + api_key.created 2026-11-01\n  + api_key.revoked 2026-11-01\n';
    expect(await command(args)).toEqual({
      exitCode: 0,
      stdout: `${plan}Nothing was changed. Pass --yes to change it.\n`,
      stderr: '',
    });
    expect(await subscriptionsTo(url)).toEqual([]);
    expect(await command([...args, '--check'])).toEqual({
      exitCode: 1,
      stdout: plan,
      stderr: 'deedwire-webhook-receiver: the subscription differs from the handlers.\n',
    });
    const secretFile = join(folder, 'new-secret');
    const result = await command([...args, '--yes', '--new-secret-file', secretFile]);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    const [subscription = missing()] = await subscriptionsTo(url);
    expect(result.stdout).toBe(`${plan}Created ${subscription.id}.\n`);
    expect((await stat(secretFile)).mode & 0o777).toBe(0o600);
    const secret = (await readFile(secretFile, 'utf8')).trim();
    expect(isWebhookSecret(secret)).toBe(true);
    expect(JSON.stringify(result)).not.toContain(secret.slice(6, 20));
    expect((await command([...args, '--check'])).exitCode).toBe(0);

    // Both versions have a handler while the newer one is introduced: it is pinned.
    const next = await writeModule(
      'next.mjs',
      `{ ${created}, 'order.placed': { '2026-11-01': () => {}, '2027-02-01': () => {} } }`,
    );
    const changed = await command(['subscribe', '--url', url, '--module', next, '--yes']);
    expect(changed).toEqual({
      exitCode: 0,
      stdout: `${subscription.id}\n  - api_key.revoked 2026-11-01\n  + order.placed 2027-02-01\nUpdated.\n`,
      stderr: '',
    });
    expect((await subscriptionsTo(url))[0]?.eventTypes).toEqual([
      { type: 'api_key.created', version: '2026-11-01' },
      { type: 'order.placed', version: '2027-02-01' },
    ]);

    const moved = await openReceiver();
    const move = ['subscribe', '--url', moved.url, '--module', next, '--subscription', subscription.id, '--yes'];
    expect((await command(move)).stdout).toContain(`  ~ ${url} -> ${moved.url}\nUpdated.\n`);
    const closed = 'http://127.0.0.1:1/hooks';
    const unreachable = ['subscribe', '--url', closed, '--module', next, '--subscription', subscription.id, '--yes'];
    expect(await command(unreachable)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^deedwire-webhook-receiver: [A-Z_]+: [^\n]+\n$/),
    });
  });

  test('sets a header, which the receiver gets with the handshake', async () => {
    const { url, handshakes } = await openReceiver();
    const module = await writeModule('header.mjs', `{ ${created} }`);
    const args = ['subscribe', '--url', url, '--module', module, '--header', 'X-Gateway-Key'];
    const env = environment({ WEBHOOK_SECRET: generateWebhookSecret(), WEBHOOK_HEADER: 'a key' });
    expect(await command([...args, '--yes'], env)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await subscriptionsTo(url)).toMatchObject([{ requestHeaderName: 'X-Gateway-Key', headerState: 'SENT' }]);
    expect(handshakes).toMatchObject([{ headers: { 'x-gateway-key': 'a key' } }]);
    expect(await command([...args, '--check'], env)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('accepts the names of headers that the interfaces accept', async () => {
    const names = [
      'Authorization',
      'authorization',
      'X-API-Key',
      'x-a',
      'X-1',
      'X-a_b',
      'X-Forwardedness',
      'X-Servicing',
      'X-Forwarded',
      'X-Forwarded-For',
      'x-FORWARDED_for',
      'X-Service',
      'X-Service-API-Key',
      'X-Service_API-Key',
      '',
      'X-',
      'X--a',
      'X-_a',
      'X_a',
      'X-ä',
      'X-a b',
      'X-a\r\nHost',
      'Authorization ',
      'Proxy-Authorization',
      'Host',
      'Cookie',
      'webhook-id',
      'Content-Type',
      `X-${'a'.repeat(98)}`,
      `X-${'a'.repeat(99)}`,
    ];
    const script = `import { readHeader } from ${from('cli/header-option.ts')};
      const shell = { env: { HEADER_PREFIX: 'X-Service', WEBHOOK_HEADER: 'a' }, hidden: new Set() };
      const isAccepted = (header) => readHeader(shell, { header }).then(() => true, () => false);
      console.log(JSON.stringify(await Promise.all(${JSON.stringify(names)}.map(isAccepted))));`;
    const node = ['--conditions=deedwire-source', '--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, node);
    expect(JSON.parse(stdout)).toEqual(names.map((name) => isRequestHeaderName(testService, name)));
  });

  test.each<[what: string, on: string, more: string, message: string, env?: Record<string, string>]>([
    ['listens', `{ ${created} }`, `(await import('node:http')).createServer().listen(0);`, 'it listens. Export the'],
    ['exports two receivers', `{ ${created} }`, 'export const other = { ...receiver };', 'it exports 2 receivers, and'],
    ['throws', `{ ${created} }`, `throw new Error('no database');`, 'no database.'],
    ['ends the process', `{ ${created} }`, 'process.exit(0);', 'it ended the process.'],
    ['has no handlers', '{}', '', 'its receiver has no handlers.'],
    [
      'has a handler of another interface',
      `{ 'order.placed': { '2026-11-01': () => {} } }`,
      '',
      'order.placed',
      supplier,
    ],
    ['does not end', `{ ${created} }`, 'await new Promise((resolve) => setTimeout(resolve, 60_000));', 'within 10 s'],
  ])('exits with 1 and one line for a module that %s', async (what, on, more, message, env) => {
    const module = await writeModule(`${what.replaceAll(' ', '-')}.mjs`, on, more);
    const args = ['subscribe', '--url', 'https://a.example/', '--module', module];
    const { exitCode, stdout, stderr } = await command(args, environment(env));
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^deedwire-webhook-receiver: [^\n]+\n$/);
    expect(stderr).toContain(message);
  });

  test('exits with 3 for refused credentials, and with 4 if the API is unavailable', async () => {
    const module = await writeModule('plain.mjs', `{ ${created} }`);
    const args = ['subscribe', '--url', 'https://a.example/', '--module', module];
    const refused = await command(args, environment({ API_KEY: `${apiKey.slice(0, -2)}00` }));
    expect(refused).toMatchObject({ exitCode: 3, stdout: '' });
    expect(refused.stderr).not.toContain(apiKey.slice(0, 12));
    const closed = `http://127.0.0.1:${await findFreePort()}`;
    const unavailable = await command(args, environment({ DEEDWIRE_URL: `${closed}/graphql` }));
    expect(unavailable).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: `deedwire-webhook-receiver: ${closed} is unavailable: connect ECONNREFUSED ${closed.slice(7)}\n`,
    });
  });
});

test('trigger --subscription lets Deedwire send a test event', async () => {
  const { url, deliveries } = await openReceiver();
  const module = await writeModule('trigger.mjs', `{ ${created} }`);
  const secret = generateWebhookSecret();
  await command(['subscribe', '--url', url, '--module', module, '--yes'], environment({ WEBHOOK_SECRET: secret }));
  const [{ id } = missing()] = await subscriptionsTo(url);
  const { exitCode, stdout } = await command(['trigger', 'api_key.created', '--subscription', id]);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^Deedwire sends gid:\/\/\S+\.\n$/),
  });
  await eventually(() => expect(deliveries).toHaveLength(1));
  const [{ headers, body } = missing()] = deliveries;
  verifyWebhook({ prefix: 'X-Service', headers, body, secret });
  const unknown = await command(['trigger', '--subscription', 'gid://service/WebhookSubscription/1']);
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('NOT_FOUND: ') });
});

test('the client’s version applies where the interface does not serve that of the kit', async () => {
  const harness = await forTest(createHarness());
  const { contract } = supplierInterface;
  const versions = contract.versions.filter(({ version }) => version !== '2026-11-01');
  const service = await harness.startApi('supplier', {}, { ...contract, versions });
  await service.whenReady;
  const account = { interfaceName: 'supplier', accountId: harness.accounts.supplier.id, clientId: null } as const;
  const client = await issueCredential(harness.operator, { ...account, schemaVersion: versions[0]?.version ?? null });
  const env = { DEEDWIRE_URL: `${service.url}/supplier/graphql`, CLIENT_ID: client.clientId, API_KEY: client.apiKey };
  const { stdout } = await command(['doctor'], environment({ ...env, ORGANIZATION_ID: client.organizationId }));
  expect(stdout).toMatch(/^✓ api +the credentials are accepted$/m);
});

/** The API behind a network that a test cuts. */
async function startNetwork() {
  const target = new URL(t.urls.customer);
  const { hostname, port: apiPort } = target;
  const sockets = new Set<Socket>();
  const server = createNetServer((client) => {
    const upstream = connect(Number(apiPort), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => [client, upstream].forEach((each) => each.destroy()));
    }
    client.pipe(upstream).pipe(client);
  });
  const listening = await listen(server);
  const { port } = listening;
  onTestFinished(() => listening.close());
  target.port = String(port);
  return {
    url: target.href,
    async cut(): Promise<void> {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    async restore(): Promise<void> {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
  };
}

async function deleteListeners(): Promise<void> {
  for (const { id } of await customer.request<{ id: string }[]>('{ webhookListeners { id } }'))
    await customer.mutate('deleteWebhookListener', 'deletedWebhookListenerId', { id });
}

/** Each case has a new state, and the account no listener. */
async function prepare(name: string): Promise<string> {
  const state = join(folder, name);
  await mkdir(state);
  await deleteListeners();
  return state;
}

const ready = (output: string): boolean => output.includes('"event":"ready"');
const sequences = (received: Receiver['deliveries']): number[] =>
  received.map(({ headers }) => Number(headers['x-service-webhook-sequence']));

describe('listen', () => {
  test('sends every event once, in order, with its bytes and a secret that stays, through interruptions', async () => {
    const state = await prepare('interrupted');
    const receiver = await openReceiver();
    const { port, deliveries: received } = receiver;
    const network = await startNetwork();
    const env = environment({ XDG_STATE_HOME: state, DEEDWIRE_URL: network.url });
    const args = ['listen', '--to', `${port}/hook`, '--json'];
    const first = startCommand(args, env);
    await eventually(() => expect(ready(first.output())).toBe(true));
    expect(JSON.parse(first.output().split('\n')[0] ?? '')).toMatchObject({ event: 'ready', resumedAfter: null });
    await sendEvents(3);
    await eventually(() => expect(sequences(received)).toEqual([1, 2, 3]));

    // The network fails, and comes back.
    await network.cut();
    await sendEvents(2);
    await eventually(() => expect(first.output()).toContain('"event":"api-unavailable"'));
    await network.restore();
    await eventually(() => expect(sequences(received)).toEqual([1, 2, 3, 4, 5]));

    // The machine sleeps.
    first.child.kill('SIGSTOP');
    await sendEvents(2);
    first.child.kill('SIGCONT');
    await eventually(() => expect(sequences(received)).toEqual([1, 2, 3, 4, 5, 6, 7]));

    // It is closed, and events arrive meanwhile.
    first.child.kill('SIGINT');
    const { exitCode, stdout, stderr } = await first.ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toEqual({ event: 'end', accepted: 7, refused: 0 });
    await sendEvents(3);
    const second = startCommand(args, env);
    await eventually(() => expect(sequences(received).at(-1)).toBe(10));
    expect(second.output()).toContain('"resumedAfter":7');

    // The receiver restarts while it has a request.
    let resets = 2;
    receiver.onDelivery = (response, request) => {
      if (resets === 0) return acknowledge(response, request);
      resets -= 1;
      received.pop();
      response.socket?.resetAndDestroy();
    };
    await sendEvents(3);
    await eventually(() => expect(sequences(received).at(-1)).toBe(13));
    expect(second.output()).toContain('"event":"receiver-unavailable"');

    // Each kill repeats at most the event that was sent last.
    const kills = 3;
    const runs = [first, second];
    let running = second;
    for (let kill = 0; kill < kills; kill += 1) {
      const before = received.length;
      const sending = sendEvents(8);
      await eventually(() => expect(received.length).toBeGreaterThan(before + kill));
      running.child.kill('SIGKILL');
      await Promise.all([running.ended, sending]);
      running = startCommand(args, env);
      runs.push(running);
    }
    const last = 13 + kills * 8;
    await eventually(() => expect(sequences(received).at(-1)).toBe(last));
    await eventually(() => expect(ready(running.output())).toBe(true));
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exitCode: 0, stderr: '' });
    const arrived = sequences(received);
    expect([...new Set(arrived)]).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    expect(arrived).toEqual(arrived.toSorted((a, b) => a - b));
    expect(arrived.length).toBeLessThanOrEqual(last + kills);

    const secret = (await readFile(join(state, 'deedwire/secret'), 'utf8')).trim();
    expect((await stat(join(state, 'deedwire/secret'))).mode & 0o777).toBe(0o600);
    for (const { headers, body } of received) {
      const { id } = verifyWebhook({ prefix: 'X-Service', headers, body, secret });
      expect(id).toMatch(/^gid:\/\/service\/WebhookDelivery\/\d+$/);
    }
    const printed = runs.map(({ output }) => output()).join('');
    for (const canary of [secret.slice(6, 20), apiKey]) expect(printed).not.toContain(canary);
  });

  test('waits for a receiver that does not run, and goes on after one that refuses', async () => {
    const state = await prepare('refused');
    const env = environment({ XDG_STATE_HOME: state });
    const closed = startCommand(['listen', '--to', '1/hooks'], env);
    await eventually(() => expect(closed.output()).toContain('Ready: events go to http://localhost:1/hooks.'));
    await sendEvents(1);
    await eventually(() =>
      expect(closed.output()).toMatch(/ECONNREFUSED[^]*\. Retrying #1\swebhook\.test 2026-11-01\.\n/),
    );
    closed.child.kill('SIGINT');
    expect((await closed.ended).stdout).toMatch(/\n0 accepted, 0 refused\.\n$/);

    await prepare('refusing');
    const refusing = await forTest(listen(createServer((_, response) => response.writeHead(500).end())));
    const running = startCommand(['listen', '--to', `${refusing.port}`, '--types', 'webhook.test'], env);
    await eventually(() => expect(running.output()).toContain('Ready: '));
    // One process sends, so that the order stays.
    expect(await command(['listen', '--to', `${refusing.port}`, '--types', 'webhook.test'], env)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`process ${running.child.pid} listens for this receiver already.`),
    });
    await sendEvents(2);
    await eventually(() => expect(running.output()).toMatch(/#1 [^\n]+ -> 500 in [^]*#2 [^\n]+ -> 500 in /));
  });

  test('names the loss after its listener has expired', async () => {
    const state = await prepare('expired');
    const { port, deliveries: received } = await openReceiver();
    const env = environment({ XDG_STATE_HOME: state });
    const args = ['listen', '--to', `${port}/hook`];
    const first = startCommand(args, env);
    await eventually(() => expect(first.output()).toContain('Ready: '));
    await sendEvents(2);
    await eventually(() => expect(received).toHaveLength(2));
    first.child.kill('SIGTERM');
    expect((await first.ended).exitCode).toBe(0);
    await deleteListeners();
    const second = startCommand(args, env);
    await eventually(() => expect(second.output()).toContain('Ready: '));
    expect(second.output()).toMatch(/^The listener has expired\. Events after #2 \(\S+Z\) are lost\.\n/);
    await sendEvents(1);
    await eventually(() => expect(sequences(received)).toEqual([1, 2, 1]));

    await deleteListeners();
    await eventually(() => expect(second.output()).toContain('Events after #1 ('));
    await sendEvents(1);
    await eventually(() => expect(sequences(received)).toEqual([1, 2, 1, 1]));
  });

  test('ends with one line on a full disk, and sends the event that it could not remember again', async ({ skip }) => {
    const state = await prepare('full');
    const run = promisify(execFile);
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', state]).catch(() => null);
    skip(mounted === null, 'This login mounts no tmpfs.');
    onTestFinished(async () => void (await run('umount', ['-l', state])));
    const { port, deliveries: received } = await openReceiver();
    const env = environment({ XDG_STATE_HOME: state });
    const args = ['listen', '--to', `${port}`, '--json'];
    const first = startCommand(args, env);
    await eventually(() => expect(ready(first.output())).toBe(true));
    await writeFile(join(state, 'large'), Buffer.alloc(100_000)).catch(() => {});
    await sendEvents(2);
    expect(await first.ended).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^deedwire-webhook-receiver: \S+ cannot be written: ENOSPC\.\n$/),
    });
    expect(sequences(received)).toEqual([1]);
    await rm(join(state, 'large'));
    startCommand(args, env);
    await eventually(() => expect(sequences(received)).toEqual([1, 1, 2]));
  });

  test('ends with one line if the disk cannot be written', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const result = await command(['listen', '--to', '4005'], environment({ XDG_STATE_HOME: file }));
    expect(result).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `deedwire-webhook-receiver: ${join(file, 'deedwire')} cannot be written: ENOTDIR.\n`,
    });
  });
});
