import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '@deedwire/embedded-postgres';
import { commandsOf, findProgram } from '@deedwire/testing';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { type InstalledPackages, installPackages } from '../support/installed-packages.ts';
import { findNode20 } from '../support/node-20.ts';

const workspaceRoot = join(import.meta.dirname, '../../../..');
const node20 = await findNode20();
if (node20 === null) process.stdout.write('contract-tests: no Node 20 on the PATH, the command runs on another one\n');
const node = node20 ?? process.execPath;

let project: InstalledPackages;
beforeAll(async () => {
  project = await installPackages(
    ['@deedwire/webhook-receiver', '@deedwire/webhook-events', '@deedwire/webhook-signing'],
    [],
  );
}, 600_000);
afterAll(() => project.remove());

const env = (more: Record<string, string>) => ({
  ...process.env,
  PATH: `${dirname(node)}:${process.env['PATH']}`,
  ...more,
});

// `npm install` of the page installs the tarballs in `beforeAll`.
test('the commands of the README lead from an empty folder to a receiver that passes every check', async () => {
  const page = readFileSync(join(project.folder, 'node_modules/@deedwire/webhook-receiver/README.md'), 'utf8');
  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
  const [commands = ''] = commandsOf(page, 'Test it', 1);
  // The installation, the file, and these.
  expect(commands.trim().split('\n').length + 2).toBeLessThan(8);
  writeFileSync(join(project.folder, 'server.mjs'), program);
  const port = String(await findFreePort());
  const script = `${commands.replaceAll('4005', port)}\nstatus=$?; kill $!; exit $status`;
  const child = spawn('sh', ['-c', script], { cwd: project.folder, env: env({ PORT: port }) });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stdout).toMatch(/\n20 passed, 1 unproven, 1 skipped\n$/);
});

const python = findProgram('python3');

test.skipIf(python === undefined)('the receiver in Python passes every check', async () => {
  const secret = generateWebhookSecret();
  const port = String(await findFreePort());
  const more = { WEBHOOK_SECRET: secret, PORT: port, DATABASE: join(project.folder, 'python.db') };
  const receiver = spawn(python ?? '', [join(workspaceRoot, 'examples/receiver-python/receiver.py')], {
    env: env(more),
  });
  onTestFinished(() => void receiver.kill());
  const count = `select count(*) from receipt`;
  const script = `import sqlite3, os; print(sqlite3.connect(os.environ["DATABASE"]).execute("${count}").fetchone()[0])`;
  await once(receiver.stdout, 'data');
  const args = ['@deedwire/webhook-receiver', 'grade', port, '--', python ?? '', '-c', script];
  const child = spawn('npx', args, { cwd: project.folder, env: env(more) });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ exitCode, stderr, stdout }).toMatchObject({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/\n21 passed, 1 skipped\n$/);
});

test('verify works without the private package that it contains', async () => {
  const secret = generateWebhookSecret();
  const body = '{"a":1}';
  const headers = signWebhook({ id: 'delivery_1', timestamp: Math.floor(Date.now() / 1_000), body, secret });
  const file = await project.write('capture.json', JSON.stringify({ headers, body: '{ "a": 1 }' }));
  const child = spawn('npx', ['@deedwire/webhook-receiver', 'verify', file], {
    cwd: project.folder,
    env: env({ WEBHOOK_SECRET: secret }),
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'deedwire-webhook-receiver: a receiver rejects the request.\n',
  });
  expect(stdout).toContain('\nBODY_WHITESPACE_CHANGED\n');
  expect(stdout).not.toContain(secret.slice(6, 20));
});

test('the other commands load what they import', async () => {
  const bin = join(project.folder, 'node_modules/@deedwire/webhook-receiver/dist/bin.js');
  for (const name of ['grade', 'doctor', 'listen', 'move-inbox', 'secret', 'sql', 'subscribe', 'trigger', 'verify']) {
    const child = spawn(node, [bin, name, '--none'], { cwd: project.folder });
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `deedwire-webhook-receiver: Unknown option '--none'. --help prints all options.\n`,
    });
  }
  expect(await succeed(node, [bin, '--help'], { cwd: project.folder })).toMatch(/^Usage: /);
});
