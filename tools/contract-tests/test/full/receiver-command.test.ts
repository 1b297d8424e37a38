import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createTestDatabase, findFreePort } from '@deedwire/embedded-postgres';
import { commandsOf, connect as connectToDatabase, eventually } from '@deedwire/testing';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { type InstalledPackages, installPackages } from '../support/installed-packages.ts';
import { findNode20 } from '../support/node-20.ts';
import { lacks } from '../support/standard-webhooks.ts';

const workspaceRoot = join(import.meta.dirname, '../../../..');
const node20 = await findNode20();
if (node20 === null) process.stdout.write('contract-tests: no Node 20 on the PATH, the command runs on another one\n');
const node = node20 ?? process.execPath;

let project: InstalledPackages;
beforeAll(async () => {
  const names = ['webhook-receiver', 'webhook-events', 'webhook-signing'].map((name) => `@deedwire/${name}`);
  project = await installPackages(names, []);
  // The frameworks of the examples, as the workspace has installed them.
  mkdirSync(join(project.folder, 'node_modules/@hono'));
  for (const name of ['@hono/node-server', 'express', 'fastify', 'hono']) {
    const installed = join(workspaceRoot, 'packages/webhook-receiver/node_modules', name);
    symlinkSync(installed, join(project.folder, 'node_modules', name), 'dir');
  }
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

/** The commands of the README call it with npx, which takes a second of CPU time. */
const bin = () => join(project.folder, 'node_modules/@deedwire/webhook-receiver/dist/bin.js');

/** Grades a receiver that a command starts, with the installed command on Node 20. */
async function gradeOf(start: readonly string[], folder: string, more: Record<string, string>, count: string[]) {
  const secret = generateWebhookSecret();
  const port = String(await findFreePort());
  const variables = env({ WEBHOOK_SECRET: secret, PORT: port, ...more });
  const [program = '', ...args] = start;
  const receiver = spawn(program, args, { cwd: folder, env: variables });
  onTestFinished(() => void receiver.kill());
  // A count command reads it.
  for (const output of [receiver.stdout, receiver.stderr]) output.on('data', (chunk) => appendFileSync(log, chunk));
  await eventually(() => connectTo(Number(port)));
  const child = spawn(node, [bin(), 'grade', `${port}/webhooks`, '--', ...count], {
    cwd: project.folder,
    env: variables,
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { exitCode, stderr, others: stdout.match(/^[^✓-].*/gm) };
}

// The receivers have one secret.
const passed = { exitCode: 0, stderr: '', others: ['21 passed, 1 skipped'] };

async function connectTo(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

let log = '';
const examples = join(workspaceRoot, 'examples');
const countOfLog = () => ['awk', '/^referral.created/ { count += 1 } END { print count + 0 }', log];

test.skipIf(lacks(['python3']))('the receiver in Python passes every check', async () => {
  const DATABASE = join(project.folder, 'python.db');
  const script = `import sqlite3; print(sqlite3.connect("${DATABASE}").execute("select count(*) from receipt").fetchone()[0])`;
  log = await project.write('python.log', '');
  const count = ['python3', '-c', script];
  const folder = join(examples, 'receiver-python');
  expect(await gradeOf(['python3', 'receiver.py'], folder, { DATABASE }, count)).toEqual(passed);
});

test.skipIf(lacks(['go']))('the receiver in Go passes every check', async () => {
  const folder = join(project.folder, 'receiver-go');
  await cp(join(examples, 'receiver-go'), folder, { recursive: true });
  await succeed('go', ['build', '-o', 'receiver', '.'], { cwd: folder });
  const database = await createTestDatabase({ template: 'receiver_go_graded', prepare: async () => {} });
  const connection = await connectToDatabase(database.databaseUrl);
  onTestFinished(async () => {
    await connection.run('drop owned by receiver_go_graded');
    await connection.run('drop role receiver_go_graded');
    await connection.close();
    await database.drop();
  });
  // The server of the tests hashes passwords with one iteration, which the driver for Go refuses.
  await connection.run('set scram_iterations = 4096');
  await connection.run(`create role receiver_go_graded login password 'receiver_go_graded'`);
  await connection.run('grant create on schema public to receiver_go_graded');
  const url = new URL(database.databaseUrl);
  [url.username, url.password] = ['receiver_go_graded', 'receiver_go_graded'];
  // The server has no TLS, which the driver requires by default.
  url.searchParams.set('sslmode', 'disable');
  log = await project.write('go.log', '');
  const count = ['awk', '/Processed referral.created/ { count += 1 } END { print count + 0 }', log];
  expect(await gradeOf(['./receiver'], folder, { DATABASE_URL: url.href }, count)).toEqual(passed);
});

/** What a platform does with the module of an example. */
const served = (handle: string): string => `import { serve } from '@hono/node-server';
  import * as example from './example.ts';
  serve({ fetch: (request) => ${handle}, port: Number(process.env.PORT) });`;
const frameworks = {
  node: ['server.mjs'],
  express: ['server.mjs'],
  fastify: ['server.mjs'],
  hono: ['server.mjs'],
  lambda: ['local.mjs'],
  next: [
    'app/webhooks/route.js',
    `request.method === 'POST' ? example.POST(request) : new Response('', { status: 405 })`,
  ],
  workers: [
    'worker.ts',
    `example.default.fetch(request, process.env, { waitUntil() {}, passThroughOnException() {} })`,
  ],
} as const;

test.each(Object.entries(frameworks))('the receiver with %s passes every check', async (name, [file, handle]) => {
  const folder = join(project.folder, `receiver-${name}`);
  await cp(join(examples, `receiver-${name}`), folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  if (handle !== undefined) {
    await cp(join(folder, file), join(folder, 'example.ts'));
    await writeFile(join(folder, 'serve.mjs'), served(handle));
  }
  log = await project.write(`${name}.log`, '');
  const start = [process.execPath, handle === undefined ? file : 'serve.mjs'];
  expect(await gradeOf(start, folder, {}, countOfLog())).toEqual(passed);
});

test('doctor says that the package pg is missing, which the kit does not install', async () => {
  const child = spawn(node, [bin(), 'doctor'], {
    cwd: project.folder,
    env: env({ DATABASE_URL: 'postgres://login:canary-of-a-login@127.0.0.1:1/name' }),
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stdout).toContain('the package pg is not installed\n  Fix: Install it with "npm install pg".\n');
  expect(stdout + stderr).not.toContain('canary');
});

test('verify works without the private package that it contains', async () => {
  const secret = generateWebhookSecret();
  const body = '{"a":1}';
  const headers = signWebhook({ id: 'delivery_1', timestamp: Math.floor(Date.now() / 1_000), body, secret });
  const file = await project.write('capture.json', JSON.stringify({ headers, body: '{ "a": 1 }' }));
  const child = spawn(node, [bin(), 'verify', file], {
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
  for (const name of ['grade', 'doctor', 'listen', 'move-inbox', 'secret', 'sql', 'subscribe', 'trigger', 'verify']) {
    const child = spawn(node, [bin(), name, '--none'], { cwd: project.folder });
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `deedwire-webhook-receiver: Unknown option '--none'. --help prints all options.\n`,
    });
  }
  expect(await succeed(node, [bin(), '--help'], { cwd: project.folder })).toMatch(/^Usage: /);
});
