import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findFreePort } from '@deedwire/embedded-postgres';
import { commandsOf } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { expect, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import {
  commandOf,
  environment,
  examples,
  gradeOf,
  installReceiverKit,
  node,
  passed,
} from '../../support/graded-receivers.ts';
import { lacks } from '../../support/standard-webhooks.ts';

const project = await forFile(installReceiverKit());
const installed = join(project.folder, 'node_modules/@deedwire/webhook-receiver');
const read = (file: string): string => readFileSync(join(installed, file), 'utf8');
const skill = 'skills/receive-deedwire-webhooks/SKILL.md';

// `npm install` of the page installs the tarballs in `beforeAll`.
test.each([
  ['the README', 'README.md', 'Test it'],
  ['the skill', skill, '3. Prove it'],
])('the commands of %s lead from an empty folder to a receiver that passes every check', async (_, page, section) => {
  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(read('README.md')) ?? [];
  const [commands = ''] = commandsOf(read(page), section, 1);
  // The installation, the file, and these.
  expect(commands.trim().split('\n').length + 2).toBeLessThan(8);
  writeFileSync(join(project.folder, 'server.mjs'), program);
  const port = String(await findFreePort());
  const script = `${commands.replaceAll('4005', port)}\nstatus=$?; kill $!; exit $status`;
  const child = spawn('sh', ['-c', script], { cwd: project.folder, env: environment({ PORT: port }) });
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stdout).toMatch(/\n21 passed, 1 unproven, 1 skipped\n$/);
});

test('the skill has the head that agents read, and names files and commands that are installed', async () => {
  const page = read(skill);
  const [, name, description = ''] =
    /^---\nname: (.+)\ndescription: (.+)\nlicense: Apache-2\.0\n---\n/.exec(page) ?? [];
  expect(name).toBe(basename(dirname(skill)));
  expect(description.length).toBeLessThanOrEqual(1_024);
  const links = [...page.matchAll(/\]\((\.\.\/[^)]+)\)/g)].map(([, link = '']) =>
    join(installed, dirname(skill), link),
  );
  const paths = [...page.matchAll(/`(node_modules\/@deedwire\/[^`]+\/[^`]+)`/g)].map(([, path = '']) =>
    join(project.folder, path),
  );
  expect([links.length, paths.length]).toEqual([5, 2]);
  expect([...links, ...paths].filter((file) => !existsSync(file))).toEqual([]);
  const help = await succeed(node, [commandOf(project), '--help'], { cwd: project.folder });
  const commands = new Set([...page.matchAll(/npx @deedwire\/webhook-receiver (\w+)/g)].map(([, command]) => command));
  expect([...commands].filter((command) => !new RegExp(`^${command}\\b`, 'm').test(help))).toEqual([]);
});

// Those of other languages and frameworks: `long/receivers.test.ts`.
test.skipIf(lacks(['python3']))('the receiver in Python passes every check', async () => {
  const variables = { DATABASE: join(project.folder, 'python.db') };
  const log = await project.write('python.log', '');
  const folder = join(examples, 'receiver-python');
  const start = ['python3', 'receiver.py'];
  // Two threads can print on one line: Python writes the end of a line on its own.
  const count = ['awk', '{ count += gsub(/Processed an event/, "") } END { print count + 0 }', log];
  expect(await gradeOf(project, { start, folder, variables, log, count })).toEqual(passed);
});

test('doctor says that the package pg is missing, which the kit does not install', async () => {
  const child = spawn(node, [commandOf(project), 'doctor'], {
    cwd: project.folder,
    env: environment({ DATABASE_URL: 'postgres://login:canary-of-a-login@127.0.0.1:1/name' }),
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stdout).toContain('the package pg is not installed\n  Fix: Install it with "npm install pg".\n');
  expect(stdout + stderr).not.toContain('canary');
});

test('verify works without the private package that it contains', async () => {
  const secret = generateWebhookSecret();
  const body = '{"a":1}';
  const headers = signWebhook({
    prefix: 'X-Service',
    id: 'delivery_1',
    timestamp: Math.floor(Date.now() / 1_000),
    body,
    secret,
  });
  const file = await project.write('capture.json', JSON.stringify({ headers, body: '{ "a": 1 }' }));
  const child = spawn(node, [commandOf(project), 'verify', file], {
    cwd: project.folder,
    env: environment({ WEBHOOK_SECRET: secret }),
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
    const child = spawn(node, [commandOf(project), name, '--none'], { cwd: project.folder });
    const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `deedwire-webhook-receiver: Unknown option '--none'. --help prints all options.\n`,
    });
  }
  expect(await succeed(node, [commandOf(project), '--help'], { cwd: project.folder })).toMatch(/^Usage: /);
});
