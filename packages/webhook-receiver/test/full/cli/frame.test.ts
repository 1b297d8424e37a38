import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { listen } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { isWebhookSecret } from '@deedwire/webhook-signing';
import { describe, expect, test } from 'vitest';
import { help } from '../../../src/cli/help.ts';
import { call } from '../../support/call.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const bin = fileURLToPath(new URL('../../../src/bin.ts', import.meta.url));

test('one help, of at most 80 columns, names every command', async () => {
  for (const args of [[], ['--help'], ['sql', '-h'], ['verify', 'a', '--help']])
    expect(await call(args)).toEqual({ exitCode: 0, stdout: help, stderr: '' });
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
  const named = [...help.matchAll(/^([a-z-]+)(?: .*)?$/gm)].map(([, name]) => name);
  for (const name of named) expect((await call([name ?? '', '--none'])).stderr).not.toContain('there is no command');
  expect(named).toEqual(expect.arrayContaining(['move-inbox', 'secret', 'sql', 'verify']));
});

test('secret prints a new secret', async () => {
  const printed = [await call(['secret']), await call(['secret'])];
  const [first = '', second = ''] = printed.map(({ stdout }) => stdout);
  expect(isWebhookSecret(first.replace(/\n$/, ''))).toBe(true);
  expect(first).not.toBe(second);
  expect(printed.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual([
    { exitCode: 0, stderr: '' },
    { exitCode: 0, stderr: '' },
  ]);
});

describe('a wrong call exits with 2 and one line', () => {
  test.each([
    [['sekret'], 'there is no command "sekret". --help lists them.'],
    [['constructor'], 'there is no command "constructor". --help lists them.'],
    [['\u001B[31m'], String.raw`there is no command "\u001b[31m". --help lists them.`],
    [['secret', 'new'], 'secret takes no argument.'],
    [['secret', '--file', 'a'], `Unknown option '--file'. --help prints all options.`],
    [['sql', 'store', '--table'], `Option '--table <value>' argument missing. --help prints all options.`],
  ])('%j', async (args, message) => {
    expect(await call(args)).toEqual({ exitCode: 2, stdout: '', stderr: `deedwire-webhook-receiver: ${message}\n` });
  });
});

test('no message repeats a secret that was passed as an argument', async () => {
  const { stdout: canary } = await call(['secret']);
  const env = { WEBHOOK_SECRET: `${canary}plain-text-secret\n`, API_KEY: 'key-of-a-client' };
  for (const args of [
    [canary.trim()],
    ['verify', `--secret=${canary.trim()}`],
    ['verify', '--secret-file', canary.trim()],
    ['verify', 'plain-text-secret'],
    ['verify', '--secret-file', 'a-key-by-mistake'],
    ['verify', '--env-file', 'a-key-by-mistake'],
    ['grade', '4005', '--header', 'X-Key', '--header-file', 'Bearer a-key-by-mistake'],
    ['sql', 'store', '--table', 'key-of-a-client.a.b'],
  ]) {
    const { exitCode, stdout, stderr } = await call(args, { env });
    expect(exitCode).toBe(2);
    expect(stdout + stderr).not.toMatch(/plain-text-secret|key-of-a-client|a-key-by-mistake/);
    expect(stdout + stderr).not.toContain(canary.trim().slice(6, 20));
  }
});

/** Returns all that it gets. */
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const message = `${await text(request)} ${JSON.stringify(request.headers)}`;
  response.writeHead(401).end(JSON.stringify({ errors: [{ message }] }));
}

test('no command prints or writes a secret, whatever a receiver and the API respond', async () => {
  const folder = await tempFolder();
  const { port } = await forTest(listen(createServer((request, response) => void respond(request, response))));
  const secret = (await call(['secret'])).stdout.trim();
  const variables = {
    WEBHOOK_SECRET: secret,
    WEBHOOK_HEADER: 'Bearer canary-of-a-header',
    API_KEY: 'canary-of-a-key',
    CLIENT_ID: 'client',
    ORGANIZATION_ID: 'organization',
    DEEDWIRE_URL: `http://127.0.0.1:${port}/`,
    DATABASE_URL: 'postgres://login:canary-of-a-login@127.0.0.1:1/name',
  };
  const envFile = join(folder, '.env');
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(envFile, lines.join(''));
  const module = join(folder, 'module.mjs');
  await writeFile(module, 'throw new Error(JSON.stringify([process.argv, process.env]));');
  const right = join(folder, 'right.mjs');
  await writeFile(right, `export const receiver = { subscription: () => [{ type: 'a', version: 'b' }] };`);
  const state = join(folder, 'state');
  for (const args of [
    ['grade', `${port}`, '--only', 'redirect,handshake,valid', '--format', 'json'],
    ['grade', `${port}`, '--only', 'redirect,handshake,valid', '--header', 'Authorization'],
    ['verify', envFile],
    ['trigger', 'order.placed', '--to', `${port}`],
    ['trigger', '--subscription', 'gid://a'],
    ['listen', '--to', `${port}`],
    ['subscribe', '--url', 'https://a.example/', '--module', module],
    ['subscribe', '--url', 'https://a.example/', '--module', right, '--yes', '--header', 'Authorization'],
    ['doctor'],
    ['move-inbox', 'pg-boss'],
  ])
    for (const [more, env] of [
      [[], { ...variables, XDG_STATE_HOME: state }],
      [['--env-file', envFile], { XDG_STATE_HOME: state }],
    ] as const) {
      const { exitCode, stdout, stderr } = await call([...args, ...more], { env });
      expect({ args, exitCode }).not.toEqual({ args, exitCode: 0 });
      expect(stdout + stderr).not.toMatch(/canary/);
      expect(stdout + stderr).not.toContain(secret.slice(6, 20));
    }
  // Its own secret only.
  expect(await readdir(join(state, 'deedwire'))).toEqual(['secret']);
  expect(await readFile(join(state, 'deedwire/secret'), 'utf8')).not.toContain(secret);
});

test('SIGINT ends a command that waits for input with 130 and one line', async () => {
  const env = { ...process.env, WEBHOOK_SECRET: (await call(['secret'])).stdout };
  const child = spawn(process.execPath, ['--conditions=deedwire-source', bin, 'verify'], { env });
  const closed = once(child, 'close');
  const stderr = text(child.stderr);
  // More than a pipe holds: once it is written, the command reads, and listens to signals.
  await new Promise((resolve) => child.stdin.write(Buffer.alloc(2_000_000), resolve));
  child.kill('SIGINT');
  expect(await closed).toEqual([130, null]);
  expect(await stderr).toBe('deedwire-webhook-receiver: interrupted.\n');
});
