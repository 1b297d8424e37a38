import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createNetServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '@deedwire/embedded-postgres';
import { compileCache } from '@deedwire/testing';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { send } from '../../../src/cli/send.ts';
import { readTarget } from '../../../src/cli/target.ts';
import { call } from '../../support/call.ts';
import { orderEvents } from '../../support/event-packages.ts';
import { serversOfFile } from '../../support/servers-of-file.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const secret = generateWebhookSecret();
const env = { WEBHOOK_SECRET: secret };
const bin = fileURLToPath(new URL('../../../src/bin.ts', import.meta.url));

interface Received {
  readonly headers: NodeJS.Dict<string[]>;
  readonly body: string;
}

const open = serversOfFile();

async function start(respond: (response: ServerResponse) => void = (response) => response.end('{"result":"ok"}')) {
  const received: Received[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push({ headers: request.headersDistinct, body: await text(request) });
    respond(response);
  };
  const { port } = await open(createServer((request, response) => void receive(request, response)));
  return { port, received };
}

test('sends a signed event with changed fields', async () => {
  const { port, received } = await start();
  const args = [
    'trigger',
    'order.placed',
    '--to',
    `${port}/hooks`,
    '--events',
    orderEvents,
    '--set',
    'data.note=KEY=9',
  ];
  const { exitCode, stdout, stderr } = await call(args, { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^200 in \d+ ms: \{"result":"ok"\}\n$/);
  const [{ headers, body } = { headers: {}, body: '' }] = received;
  expect(verifyWebhook({ prefix: 'X-Service', headers, body, secret }).id).toMatch(
    /^gid:\/\/service\/WebhookDelivery\/\d+$/,
  );
  expect(headers['x-service-webhook-event-version']).toEqual(['2026-11-01']);
  expect(JSON.parse(body)).toMatchObject({
    type: 'order.placed',
    version: '2026-11-01',
    data: { note: 'KEY=9', orderId: 'gid://service/Order/4711' },
  });
});

test('reaches a receiver that listens only on ::1', async ({ skip }) => {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  skip(!hasIpv6, 'This machine has no ::1.');
  // Another test's server could listen on 127.0.0.1 at a port that the system assigns.
  const port = await findFreePort();
  const server = createServer((_, response) => response.end());
  await once(server.listen(port, '::1'), 'listening');
  onTestFinished(() => void server.close());
  for (const to of [`${port}/hooks`, `http://[::1]:${port}/hooks`])
    expect((await call(['trigger', 'webhook.test', '--to', to], { env })).exitCode).toBe(0);
});

describe('a receiver whose queue of connections is full', () => {
  /** Listens, and accepts nothing for a while. The kernel drops each further connection, and a client tries again after 1 s. */
  const busy = `const { createServer } = require('node:http');
    const server = createServer((_, response) => response.end()).listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, server.address().port + '\\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.argv[1]));
    });`;

  async function startBusy(busyMs: number): Promise<number> {
    const child = spawn(process.execPath, ['--eval', busy, String(busyMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const port = Number(String(await once(child.stdout, 'data')));
    const queue = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    onTestFinished(async () => {
      for (const socket of queue) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'close');
    });
    await Promise.all(queue.slice(0, 2).map((socket) => once(socket, 'connect')));
    return port;
  }

  test('gets the event once it has room', async () => {
    const port = await startBusy(700);
    const { exitCode, stderr } = await call(['trigger', 'webhook.test', '--to', `${port}`], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  test('is reported as unreachable, because it got nothing', async () => {
    const port = await startBusy(60_000);
    const answer = await send(await readTarget(String(port)), { headers: {}, body: [] });
    expect(answer).toMatchObject({ status: null, problem: 'no response within 5 s' });
  });
});

test('looks a name up once, before it is checked', async () => {
  const { port, received } = await start();
  const addresses = [{ address: '127.0.0.1', family: 4 }];
  const target = { url: new URL(`http://rebound.invalid:${port}/`), addresses };
  expect((await send(target, { headers: {}, body: [] })).status).toBe(200);
  expect(received).toHaveLength(1);
  expect((await readTarget(`127.0.0.1:${port}`.replace(/^.*:/, ''))).addresses).toHaveLength(2);
  expect((await readTarget('http://127.0.0.1/')).addresses).toEqual(addresses);
});

test('reaches another machine through a proxy, and says which Node can', async () => {
  const { port, received } = await start();
  const args = ['trigger', 'webhook.test', '--allow-remote', '--to', 'http://receiver.invalid/hooks'];
  const proxied = { ...env, HTTP_PROXY: `http://127.0.0.1:${port}` };
  const { exitCode, stderr } = await call(args, { env: proxied });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    / receiver\.invalid\. To use your proxy, set NODE_USE_ENV_PROXY=1 with Node 22\.21 or later, or/,
  );
  expect((await call(args, { env: { ...proxied, NODE_USE_ENV_PROXY: '1' } })).exitCode).toBe(0);
  expect(received).toHaveLength(1);
});

test('sends a file with its bytes unchanged', async () => {
  const { port, received } = await start();
  const folder = await tempFolder();
  await call(['trigger', 'webhook.test', '--to', `${port}`, '--set', 'data.message=Zürich'], { env });
  const body = `${JSON.stringify(JSON.parse(received[0]?.body ?? ''), null, 3)}\n`;
  await writeFile(join(folder, 'event.json'), body);
  expect((await call(['trigger', '--to', `${port}`, '--file', join(folder, 'event.json')], { env })).exitCode).toBe(0);
  expect(received[1]?.body).toBe(body);
});

test.concurrent.each(['', 'HTTP/1.1 200 OK\r\n\r\n'])(
  'ends after 5 s when a proxy responds with %j and nothing more',
  async (head) => {
    const { port } = await open(createNetServer((socket) => void socket.write(head)));
    const args = ['trigger', 'webhook.test', '--allow-remote', '--to', 'https://receiver.invalid/hooks'];
    const proxied = { ...env, ...compileCache, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const run = promisify(execFile)(process.execPath, ['--conditions=deedwire-source', bin, ...args], { env: proxied });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stderr: 'deedwire-webhook-receiver: the receiver did not respond: no response within 5 s\n',
    });
  },
);

test.concurrent.each<[what: string, respond: (response: ServerResponse) => void, stdout: RegExp, stderr: string]>([
  [
    'refuses it',
    (response) => response.writeHead(401).end('{"code":"SIGNATURE_MISMATCH"}\u001B[2J'),
    /^401 in \d+ ms: \{"code":"SIGNATURE_MISMATCH"\}\\u001b\[2J\n$/,
    'the receiver refuses the event: Deedwire would retry it.',
  ],
  [
    'redirects',
    (response) => response.writeHead(307, { location: 'https://example.com/' }).end(),
    /^307 in \d+ ms\n$/,
    'the receiver refuses the event: Deedwire would retry it.',
  ],
  ['closes the connection', (response) => response.destroy(), /^$/, 'the receiver did not respond: socket hang up'],
  [
    'switches protocols',
    (response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end(),
    /^$/,
    'the receiver did not respond: 101 Switching Protocols',
  ],
  ['does not respond', () => {}, /^$/, 'the receiver did not respond: no response within 5 s'],
  [
    'does not end its response',
    (response) => void response.write('{'),
    /^$/,
    'the receiver did not respond: no response within 5 s',
  ],
  [
    'does not close the connection that ends its response',
    (response) => void response.socket?.write('HTTP/1.1 200 OK\r\n\r\n{'),
    /^$/,
    'the receiver did not respond: no response within 5 s',
  ],
  [
    'cuts its response',
    (response) => void response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    /^$/,
    'the receiver did not respond: the response ended early',
  ],
])('exits with 1 and one line for a receiver that %s', async (_, respond, stdout, stderr) => {
  const { port } = await start(respond);
  const result = await call(['trigger', 'webhook.test', '--to', `${port}`], { env });
  expect(result).toEqual({
    exitCode: 1,
    stdout: expect.stringMatching(stdout),
    stderr: `deedwire-webhook-receiver: ${stderr}\n`,
  });
});

function endlessly(response: ServerResponse): void {
  const write = (): void => {
    while (!response.destroyed && response.write('x'.repeat(10_000)));
  };
  response.on('drain', write);
  write();
}

test('reads only the beginning of an endless response', async () => {
  const { port } = await start(endlessly);
  const { exitCode, stdout } = await call(['trigger', 'webhook.test', '--to', `${port}`], { env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^200 in \d+ ms: x{59}…\n$/);
});

test.each([
  [['order.placed'], 'pass --to <receiver>, or --subscription <gid>.'],
  [['order.placed', '--to', '4005', '--file', 'a'], 'pass the event type, or --file with a whole body, not both.'],
  [['order.placd', '--to', '4005'], 'There is no event type order.placd. Did you mean order.placed?'],
  [['order.placed', '--to', '4005', '--version', '2020-01-01'], 'order.placed has no version 2020-01-01.'],
  [
    ['order.placed', '--to', '4005', '--set', 'data.nott=1'],
    '--set data.nott: order.placed has no such field. Example: data.orderId=gid://service/Order/4711',
  ],
  [['order.placed', '--to', '4005', '--set', 'x'], '--set x: order.placed has no such field.'],
  [['order.placed', '--to', '4005', '--set', 'data.orderId=4711'], 'Deedwire sends no such body: data.orderId: '],
  [['order.placed', '--to', 'http://192.0.2.1/'], '192.0.2.1 is not this machine. Pass --allow-remote'],
  [['--subscription', 'gid://a', '--to', '4005'], '--subscription sends sample data: pass neither --to,'],
  [['--subscription', 'gid://a'], 'set DEEDWIRE_URL, CLIENT_ID, API_KEY, ORGANIZATION_ID, or pass --env-file'],
])('exits with 2 for %j', async (args, message) => {
  const ofPackage = args.includes('--subscription') ? [] : ['--events', orderEvents];
  const { exitCode, stdout, stderr } = await call(['trigger', ...args, ...ofPackage], { env });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/^deedwire-webhook-receiver: [^\n]+\n$/);
  expect(stderr).toContain(message);
});

test('sends a test event, whatever the service is, and checks another event by its package', async () => {
  const { port, received } = await start();
  expect((await call(['trigger', '--to', `${port}`], { env })).exitCode).toBe(0);
  const placed = ['trigger', 'order.placed', '--to', `${port}`];
  expect((await call(placed, { env })).stderr).toContain('pass --events <package> for another event than webhook.test');
  expect(
    (await call([...placed, '--events', orderEvents], { env: { ...env, HEADER_PREFIX: 'X-Shop' } })).exitCode,
  ).toBe(0);
  expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { type: 'webhook.test', data: { message: expect.any(String) } },
    { type: 'order.placed', version: '2026-11-01', data: { item: 'Tea', note: null } },
  ]);
  expect(received[1]?.headers['x-shop-webhook-event']).toEqual(['order.placed']);
  const missing = await call([...placed, '--events', './no-such-package'], { env });
  expect(missing).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--events: ./no-such-package cannot be loaded: '),
  });
});

const apiKey = 'key-of-an-api-client';

test.each<[what: string, respond: (response: ServerResponse) => void, exitCode: number, stderr: RegExp]>([
  [
    'a page of a proxy',
    (response) => response.end('<html>\n\u001B[2J</html>'),
    4,
    /^the API responded 200: <html> \\u001b\[2J<\/html>$/,
  ],
  ...['{"data":{"payload":null}}', '{"data":{"payload":{"userErrors":[]}}}', '[]', 'null'].map(
    (body): [string, (response: ServerResponse) => void, number, RegExp] => [
      `another shape, ${body}`,
      (response) => response.end(body),
      4,
      /^the API responded (?:200: |to sendTestWebhookEvent with something else than its contract says\.$)/,
    ],
  ),
  ['a redirect', (response) => response.writeHead(302, { location: '/' }).end(), 1, /^the API responded 302: $/],
  [
    'the API key in an error',
    (response) => response.writeHead(401).end(`{"errors":[{"message":"No key ${apiKey}."}]}`),
    3,
    /^the API responded 401: No key …\.$/,
  ],
  [
    'the API key where the message is cut',
    (response) => response.writeHead(401).end(`{"errors":[{"message":"${'x'.repeat(185)}${apiKey}"}]}`),
    3,
    /^the API responded 401: x{185}…$/,
  ],
  ['no capacity', (response) => response.writeHead(503).end(), 4, /^the API responded 503: $/],
  ['no response', (response) => response.destroy(), 4, /^http:\/\/127\.0\.0\.1:\d+ is unavailable: other side closed$/],
  ['an endless body', (response) => endlessly(response), 4, / is unavailable: The response has more than 4 MB\.$/],
  [
    'a user error',
    (response) =>
      response.end(
        '{"data":{"payload":{"webhookEventId":null,"userErrors":[{"code":"NOT_FOUND","message":"None."}]}}}',
      ),
    1,
    /^NOT_FOUND: None\.$/,
  ],
])('ends with one line if the API responds with %s', async (_, respond, exitCode, stderr) => {
  const { port } = await start(respond);
  const variables = { DEEDWIRE_URL: `http://127.0.0.1:${port}/`, CLIENT_ID: 'client', ORGANIZATION_ID: 'organization' };
  const result = await call(['trigger', '--subscription', 'gid://a/WebhookSubscription/1'], {
    env: { ...variables, API_KEY: apiKey },
  });
  expect(result).toMatchObject({ exitCode, stdout: '' });
  expect(result.stderr).toMatch(/^deedwire-webhook-receiver: [^\n]*\n$/);
  expect(result.stderr.slice('deedwire-webhook-receiver: '.length, -1)).toMatch(stderr);
});
