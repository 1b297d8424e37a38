import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { listen } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret, isWebhookSecret } from '@deedwire/webhook-signing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { call, type CallResult } from '../../support/call.ts';
import { serversOfFile } from '../../support/servers-of-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'webhook-receiver-subscribe-'));
await forFile({ close: () => rm(folder, { recursive: true }) });
const credentials = { CLIENT_ID: 'client', API_KEY: 'key-of-a-client', ORGANIZATION_ID: 'organization' };
const exported = `export const receiver = { subscription: () => [{ type: 'order.placed', version: '2026-11-01' }] };`;

/** @param create ends the mutation that creates the subscription */
async function subscribe(
  module: string,
  create: (response: ServerResponse) => void,
  ...more: string[]
): Promise<CallResult> {
  await writeFile(join(folder, 'module.mjs'), module);
  const server = createServer((request, response) => {
    void json(request).then((content) => {
      const query = JSON.stringify(content);
      if (query.includes('createWebhookSubscription')) return create(response);
      const webhookEventTypes = [{ type: 'order.placed', versions: [{ version: '2026-11-01' }] }];
      return response.end(JSON.stringify({ data: { webhookEventTypes, webhookSubscriptions: { nodes: [] } } }));
    });
  });
  const { port } = await forTest(listen(server));
  const args = ['subscribe', '--url', 'https://a.example/', '--module', join(folder, 'module.mjs'), ...more];
  return call(args, { env: { ...credentials, DEEDWIRE_URL: `http://127.0.0.1:${port}/`, WEBHOOK_HEADER } });
}

const open = serversOfFile();
const right = join(folder, 'right.mjs');
await writeFile(right, exported);
const [id, callbackUrl] = ['gid://service/WebhookSubscription/1', 'https://a.example/'];
const eventTypes = [{ type: 'order.placed', version: '2026-11-01' }];
// Longer than a line of an error message.
const WEBHOOK_HEADER = `Bearer ${'canary  '.repeat(20)}end`;

interface Api {
  readonly url: string;
  readonly asked: readonly unknown[];
  /** Runs the command with the handlers that `eventTypes` names. */
  readonly run: (...options: string[]) => Promise<CallResult>;
}

/**
 * @param present what is special about the only subscription; null if there is none
 * @param respond in place of the usual response
 */
async function startApi(present: object | null, respond: (query: string) => object | null = () => null): Promise<Api> {
  const asked: unknown[] = [];
  const nodes = present === null ? [] : [{ id, callbackUrl, status: 'ACTIVE', eventTypes, ...present }];
  const webhookEventTypes = [{ type: 'order.placed', versions: [{ version: '2026-11-01' }] }];
  const payload = { webhookSubscription: { id }, userErrors: [] };
  const data = { webhookEventTypes, webhookSubscriptions: { nodes }, payload };
  const server = createServer((request, response) => {
    void json(request).then((content) => {
      asked.push(content);
      return response.end(JSON.stringify(respond(JSON.stringify(content)) ?? { data }));
    });
  });
  const { port } = await open(server);
  const url = `http://127.0.0.1:${port}/`;
  const env = { ...credentials, DEEDWIRE_URL: url, WEBHOOK_SECRET: generateWebhookSecret(), WEBHOOK_HEADER };
  const run = (...options: string[]): Promise<CallResult> =>
    call(['subscribe', '--url', callbackUrl, '--module', right, ...options], { env });
  return { url, asked, run };
}

const userError = '{"data":{"payload":{"userErrors":[{"code":"HANDSHAKE_FAILED","message":"None."}]}}}';
const responseWith = (code: string): string => JSON.stringify({ errors: [{ message: 'No.', extensions: { code } }] });

test.each<[what: string, create: (response: ServerResponse) => void, exitCode: number, isKept: boolean]>([
  ['closes the connection', (response) => response.destroy(), 4, true],
  ['times out', (response) => response.end(responseWith('OPERATION_TIMEOUT')), 4, true],
  ['answers with the page of a proxy', (response) => response.writeHead(400).end('<html>'), 1, true],
  ['has a user error', (response) => response.end(userError), 1, false],
  ['refuses the input', (response) => response.end(responseWith('BAD_USER_INPUT')), 1, false],
])('keeps the new secret unless nothing was created: the API %s', async (_, create, exitCode, isKept) => {
  const file = join(folder, `secret-${String(Math.random())}`);
  const result = await subscribe(exported, create, '--yes', '--new-secret-file', file);
  expect(result.exitCode).toBe(exitCode);
  expect(result.stderr).toMatch(/^deedwire-webhook-receiver: [^\n]+\n$/);
  expect(result.stderr.includes(` The subscription may exist: ${file} has its secret.\n`)).toBe(isKept);
  const secret = await readFile(file, 'utf8').catch(() => '');
  expect(isWebhookSecret(secret.trim())).toBe(isKept);
});

test('names the signal that ended the module', async () => {
  const { exitCode, stderr } = await subscribe('process.abort();', () => {});
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/module\.mjs: it ended the process with SIG[A-Z]+\.\n$/);
});

test.each([
  ['late', `setTimeout(() => createServer().listen(0), 150);`],
  ['on a socket', `createServer().listen(${JSON.stringify(join(folder, 'socket'))});`],
])('notices a server that listens %s', async (_, listening) => {
  const module = `import { createServer } from 'node:https';\n${exported}\n${listening}`;
  expect((await subscribe(module, () => {})).stderr).toContain('module.mjs: it listens. Export the receiver');
});

test('does not pass the API key and the header to the module', async () => {
  const module = 'throw new Error(JSON.stringify([process.env.API_KEY, process.env.WEBHOOK_HEADER]));';
  const { stderr } = await subscribe(module, () => {});
  expect(stderr).toMatch(/module\.mjs: \[null,null\]\.\n$/);
});

test('reads --env-file once, because it can be standard input', async () => {
  const { url } = await startApi(null);
  const lines = Object.entries({ ...credentials, DEEDWIRE_URL: url }).map(([name, value]) => `${name}=${value}\n`);
  const args = ['subscribe', '--url', callbackUrl, '--module', right, '--env-file', '-'];
  expect(await call(args, { input: lines.join('') })).toEqual({
    exitCode: 0,
    stdout: 'a new subscription\n  + order.placed 2026-11-01\nNothing was changed. Pass --yes to change it.\n',
    stderr: '',
  });
});

test('does not wait for a process that the module started', async () => {
  const file = join(folder, 'started.pid');
  const starts = `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const started = spawn('sleep', ['600'], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 3] });
    writeFileSync(${JSON.stringify(file)}, String(started.pid));
    started.unref();`;
  const signal = async (name: NodeJS.Signals | 0) => process.kill(Number(await readFile(file, 'utf8')), name);
  onTestFinished(async () => void (await signal('SIGKILL')));
  const { exitCode, stdout } = await subscribe(`${starts}\n${exported}`, () => {});
  // It still runs.
  expect(await signal(0)).toBe(true);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('  + order.placed 2026-11-01\n');
});

test.each([
  [[], null, /^gid:[^\n]+\n {2}\+ order/],
  [['--timeout', '10'], 10, /^ {2}~ timeout 5 s -> 10 s$/m],
])('sets the timeout if it is passed: %j', async (options, timeoutSeconds, shown) => {
  const { asked, run } = await startApi({ eventTypes: [], timeoutSeconds: 5 });
  const { stdout } = await run('--yes', ...options);
  expect(stdout).toMatch(shown);
  // Earlier releases of Deedwire do not know the field.
  expect(JSON.stringify(asked).includes('timeoutSeconds')).toBe(timeoutSeconds !== null);
  const input = { id, callbackUrl, eventTypes, ...(timeoutSeconds !== null && { timeoutSeconds }) };
  expect(asked.at(-1)).toMatchObject({ variables: { input } });
});

/** The response of a release of Deedwire without headers. */
function unknownField(query: string): object | null {
  if (!query.includes('requestHeaderName')) return null;
  const message = 'Cannot query field "requestHeaderName" on type "WebhookSubscription".';
  return { errors: [{ message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] };
}

// Each run waits for its module.
describe.concurrent('a header', () => {
  const requestHeader = { name: 'X-Key', value: WEBHOOK_HEADER };
  const withHeader = ['--header', 'X-Key'];

  test.each<[what: string, present: object | null, shown: string]>([
    ['a new subscription', null, '+ header X-Key'],
    ['one without a header', { requestHeaderName: null, headerState: null }, '+ header X-Key'],
    ['one with another header', { requestHeaderName: 'X-Old', headerState: 'SENT' }, '~ header X-Old -> X-Key'],
    [
      'one whose header was dropped',
      { requestHeaderName: 'x-key', headerState: 'DROPPED' },
      '~ header X-Key, which Deedwire does not send at present',
    ],
  ])('is set for %s, and --check notices that it is missing', async (_, present, shown) => {
    const { asked, run } = await startApi(present);
    const checked = await run('--check', ...withHeader);
    expect(checked).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(`\n  ${shown}\n`) });
    expect(JSON.stringify(asked)).not.toContain('canary');
    const { exitCode, stdout, stderr } = await run('--yes', ...withHeader);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(`\n  ${shown}\n`);
    expect(asked.at(-1)).toMatchObject({ variables: { input: { callbackUrl, eventTypes, requestHeader } } });
  });

  test('that is present is set again, because its value cannot be read', async () => {
    const { asked, run } = await startApi({ requestHeaderName: 'x-key', headerState: 'SENT' });
    expect(await run('--check', ...withHeader)).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout } = await run('--yes', ...withHeader);
    expect(stdout).toBe(`${id}\n  ~ value of the header X-Key\nUpdated.\n`);
    expect(asked.at(-1)).toMatchObject({ variables: { input: { id, requestHeader } } });
  });

  test('is neither read nor set without the option', async () => {
    const { asked, run } = await startApi({ eventTypes: [] });
    expect(await run('--yes')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(asked).toHaveLength(3);
    expect(JSON.stringify(asked)).not.toMatch(/header|canary/i);
  });

  test.each([
    ['returns it', JSON.stringify(requestHeader)],
    ['returns it in capitals', WEBHOOK_HEADER.toUpperCase()],
    ['returns it in base64', btoa(WEBHOOK_HEADER)],
  ])('is not printed if the API %s', async (_, message) => {
    const hidden = '[hidden: it contains a part of the header]';
    const payload = { userErrors: [{ code: 'REQUEST_HEADER_INVALID', message }] };
    const { run } = await startApi(null, (query) => (query.includes('mutation') ? { data: { payload } } : null));
    const { exitCode, stderr } = await run('--yes', ...withHeader);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `deedwire-webhook-receiver: REQUEST_HEADER_INVALID: ${hidden}\n`,
    });
    const errors = [{ message, extensions: { code: 'BAD_USER_INPUT' } }];
    const refusing = await startApi(null, (query) => (query.includes('mutation') ? { errors } : null));
    expect((await refusing.run('--yes', ...withHeader)).stderr).toBe(
      `deedwire-webhook-receiver: the API responded 200: ${hidden}\n`,
    );
  });

  test('that an interface does not know changes nothing', async () => {
    const { asked, run } = await startApi(null, unknownField);
    expect(await run('--yes', ...withHeader)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'deedwire-webhook-receiver: this interface does not know --header yet: the API responded 200: Cannot query field "requestHeaderName" on type "WebhookSubscription".\n',
    });
    expect(JSON.stringify(asked)).not.toMatch(/mutation|canary/);
  });

  test.each<[what: string, present: object, isShown: boolean]>([
    ['is named if its subscription moves', { requestHeaderName: 'X-Key', headerState: 'SENT' }, true],
    ['is not named if it was dropped before', { requestHeaderName: 'X-Key', headerState: 'DROPPED' }, false],
    ['is not named if there is none', { requestHeaderName: null, headerState: null }, false],
    ['is not named if only the path changes', { callbackUrl: `${callbackUrl}old`, requestHeaderName: 'X-Key' }, false],
  ])('%s', async (_, present, isShown) => {
    const { run } = await startApi({ callbackUrl: 'https://b.example/', ...present });
    const { exitCode, stdout } = await run('--subscription', id);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ {2}~ https:/m);
    expect(stdout.includes('  - header X-Key. To send it to the new URL, pass --header\n')).toBe(isShown);
  });

  test('is not named if the interface of a subscription that moves does not know it', async () => {
    const { run } = await startApi({ callbackUrl: 'https://b.example/' }, unknownField);
    const { exitCode, stdout, stderr } = await run('--subscription', id, '--yes');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(`${id}\n  ~ https://b.example/ -> ${callbackUrl}\nUpdated.\n`);
  });
});
