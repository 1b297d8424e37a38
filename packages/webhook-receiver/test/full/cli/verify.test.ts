import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, type CallResult } from '../../support/call.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'webhook-receiver-verify-'));
});
afterAll(() => rm(folder, { recursive: true }));

const file = async (name: string, content: string): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

const secret = generateWebhookSecret();
const env = { WEBHOOK_SECRET: secret };
const receivedAt = '2026-11-03T09:30:01Z';
const body = '{"name":"Zürich"}';
const id = 'gid://service/WebhookDelivery/4711';
const headers = signWebhook({ prefix: 'X-Service', id, timestamp: Date.parse(receivedAt) / 1_000, body, secret });
const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
const http = `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
const curl = `* Connected\n> POST /hook HTTP/1.1\n${lines.map((line) => `> ${line}\n`).join('')}>\n${body}`;
const har = (text: string): string =>
  JSON.stringify({
    log: {
      entries: [
        {
          startedDateTime: receivedAt,
          request: {
            method: 'POST',
            headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
            postData: { text },
          },
        },
      ],
    },
  });

const verify = (input: string, ...more: string[]): Promise<CallResult> => call(['verify', ...more], { env, input });
const accepted = { exitCode: 0, stdout: 'accepted, signed with the secret.\n', stderr: '' };

test.each([
  ['HTTP text', http, ['--at', receivedAt]],
  ['the output of curl -v', curl, ['--at', receivedAt]],
  ['JSON', JSON.stringify({ headers, body }), ['--at', receivedAt]],
  ['HAR', har(body), []],
])('accepts a request that is right, as %s', async (_, input, more) => {
  expect(await verify(input, ...more)).toEqual(accepted);
});

test('reads a quoted secret before a comment with quotes', async () => {
  const envFile = await file('.env', `WEBHOOK_SECRET="${secret}" # of "staging"\n`);
  const result = await call(['verify', '--env-file', envFile, '--at', receivedAt], { input: http });
  expect(result).toEqual(accepted);
});

test.each([
  ['in lines', `${generateWebhookSecret()}\n${secret}`],
  ['with escapes', `${generateWebhookSecret()}\\n${secret}`],
])('reads several secrets in one quoted variable, %s', async (_, value) => {
  const envFile = await file('.env', `A='1'\r\nWEBHOOK_SECRET="${value}"\r\nB=2\n`);
  const { exitCode, stdout } = await call(['verify', '--env-file', envFile, '--at', receivedAt], { input: http });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^accepted, signed with secret 2 of 2\.\n/);
});

test.each([
  ['SECRET_WITH_VERSION', `v1,${secret}`],
  ['SECRET_WITH_VERSION', `v1 ${secret}`],
  ['SECRET_WITH_SCHEME', `Bearer ${secret}`],
  ['SECRETS_JOINED', `${secret} ${generateWebhookSecret()}`],
])('names what stands beside the secret: %s', async (code, value) => {
  const { exitCode, stdout, stderr } = await call(['verify', '--at', receivedAt], {
    env: { WEBHOOK_SECRET: value },
    input: http,
  });
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`\n${code}\n`);
  expect(stdout + stderr).not.toContain(secret.slice(6, 16));
});

test('reads files', async () => {
  const capture = await file('request.http', http.replace(body, ''));
  const secrets = await file('secrets', `${generateWebhookSecret()}\n${secret}\n`);
  const bodyFile = await file('body', body);
  const args = ['verify', capture, '--body', bodyFile, '--secret-file', secrets, '--at', receivedAt];
  const { exitCode, stdout } = await call(args);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^accepted, signed with secret 2 of 2\.\nOTHER_SECRET\n {2}/);
  const envFile = await file('dev.env', `# comment\nexport WEBHOOK_SECRET='${secret}'\nOTHER=1\n`);
  expect(await call(['verify', '--env-file', envFile, '--at', receivedAt], { input: http })).toEqual(accepted);
});

test('says what is wrong and what to do, in 80 columns, without the secret', async () => {
  const { exitCode, stdout, stderr } = await verify(http.replace(body, '{ "name": "Zürich" }'), '--at', receivedAt);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'deedwire-webhook-receiver: a receiver rejects the request.\n',
  });
  expect(stdout).toMatch(
    /^rejected with SIGNATURE_MISMATCH\. It was signed with the secret; what follows is\nwrong\.\nBODY_WHITESPACE_CHANGED\n {2}[^]*\n {2}Fix: /,
  );
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(stdout + stderr).not.toContain(secret.slice(6, 20));
  expect((await verify(http)).stdout).toContain('TIMESTAMP_TOO_OLD\n');
});

const line = (text: string): string => JSON.stringify({ headers, body: text, receivedAt });

test('reads each line of NDJSON, and prints one for each with --json', async () => {
  const input = `${line(body)}\n${line('{}')}\n`;
  const { exitCode, stdout, stderr } = await verify(input, '--json');
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'deedwire-webhook-receiver: a receiver rejects 1 request.\n',
  });
  const printed = stdout.trimEnd().split('\n');
  expect(printed.map((each) => JSON.parse(each))).toMatchObject([
    { isAccepted: true, rejection: null, findings: [] },
    { isAccepted: false, rejection: 'SIGNATURE_MISMATCH', findings: [{ code: 'SIGNATURE_MISMATCH' }] },
  ]);
  expect((await verify(input)).stdout).toMatch(/^request 1: accepted[^]*^request 2: rejected with /m);
});

test.each([
  [[], '', 'the request cannot be read. The capture is empty.'],
  [['--at', 'noon'], http, '--at must be a time'],
  [['a', 'b'], http, 'verify reads one file.'],
  [['none.http'], http, 'none.http cannot be read: ENOENT.'],
  [['--secret-file', '-'], http, 'only one of the files can be standard input.'],
  [[], '{"log":{"entries":[]}}', 'the capture has no POST request.'],
])('exits with 2 for %j', async (more, input, message) => {
  const { exitCode, stdout, stderr } = await verify(input, ...more);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/^deedwire-webhook-receiver: [^\n]+\n$/);
  expect(stderr).toContain(message);
});

test('exits with 2 without a secret', async () => {
  const { exitCode, stderr } = await call(['verify'], { input: http });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: 'deedwire-webhook-receiver: there is no secret. Set WEBHOOK_SECRET, or pass --env-file or --secret-file.\n',
  });
});
