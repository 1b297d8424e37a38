import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { succeed } from './support/command.ts';
import { workspaceRoot } from './support/workspace-copy.ts';

// What `pnpm new` refuses. `long/recipes.test.ts` follows it to a tree that passes every check.

let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deedwire-new-'));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
  for (const path of [
    'packages/webhook-events/versions.json',
    'packages/webhook-events/event-types.json',
    'packages/webhook-events/src/referral.declined',
    'packages/webhook-events/fixtures/referral.declined',
    'packages/domain/src/event-snapshots.ts',
    'packages/domain/src/sample-snapshots.ts',
    'packages/partner-schema/versions.json',
    'packages/partner-schema/versions',
    'apps/partner-api/src/versions',
    'packages/webhook-rendering/src/referral.declined',
  ])
    cpSync(join(workspaceRoot, path), join(folder, path), { recursive: true });
  await git('init', '--quiet');
  await git('config', 'user.name', 'Tester');
  await git('config', 'user.email', 'tester@example.com');
  await commitAll();
});

function git(...args: string[]): Promise<string> {
  return succeed('git', args, { cwd: folder });
}

async function commitAll(): Promise<void> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Changes');
}

async function runNew(...args: string[]) {
  return end(spawnNew([], args));
}

/** Runs the script of `pnpm new` in the folder. The flags are those of Node. */
function spawnNew(flags: readonly string[], args: readonly string[]) {
  const script = join(workspaceRoot, 'scripts/new.ts');
  return spawn(process.execPath, [...flags, script, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function end(child: ReturnType<typeof spawnNew>) {
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: child.exitCode };
}

test.each([
  [
    'the name of an event type that exists',
    ['event', 'referral.declined', '2027-06-01', 'partner'],
    'The event type referral.declined exists. To add a version, run pnpm new event-version referral.declined <version>.',
  ],
  [
    'a name that is no event type',
    ['event', 'LenderRenamed', '2027-06-01', 'lender'],
    '"LenderRenamed" is not an event type. Write <noun>.<participle>, for example lender.renamed.',
  ],
  [
    'a version that is no date',
    ['event', 'lender.renamed', '2027-13-01', 'lender'],
    '"2027-13-01" is not a version. A version is a date, for example 2027-06-01.',
  ],
  [
    'a version of an unknown event type',
    ['event-version', 'lender.renamed', '2027-06-01'],
    'There is no event type lender.renamed. To add it, run pnpm new event lender.renamed <version> <interface>.',
  ],
  [
    'a version of an event type that exists',
    ['event-version', 'referral.declined', '2026-11-01'],
    'referral.declined has version 2026-11-01. A new version is a later date than 2026-11-01.',
  ],
  [
    'a version of an interface that exists',
    ['interface-version', 'partner', '2026-11-01'],
    'The partner interface has version 2026-11-01. A new version is a later date than 2026-11-01.',
  ],
  [
    'an unknown interface',
    ['interface-version', 'both', '2027-06-01'],
    '"both" is not an interface. Use lender or partner.',
  ],
])('refuses %s in one line', async (_, args, line) => {
  expect(await runNew(...args)).toEqual({ code: 1, stdout: '', stderr: `${line} Nothing was written.\n` });
  expect(await git('status', '--porcelain')).toBe('');
});

test('refuses a dirty tree, and a second run with the same name', async () => {
  const command = ['event-version', 'referral.declined', '2027-06-01'];
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  expect(await runNew(...command)).toMatchObject({
    code: 1,
    stderr:
      'The working tree has changes, for example notes.txt. Commit or undo them, so that you see what is new. Nothing was written.\n',
  });
  await commitAll();
  expect(await runNew(...command)).toMatchObject({ code: 0, stderr: '' });
  expect(await runNew(...command)).toMatchObject({
    code: 1,
    stderr:
      'referral.declined has version 2027-06-01. A new version is a later date than 2027-06-01. Nothing was written.\n',
  });
});

test('prints what it wrote and what to do next', async () => {
  const { stdout } = await runNew('interface-version', 'partner', '2027-06-01');
  const written = (await git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n');
  expect(written).toHaveLength(5);
  for (const line of written) expect(stdout).toContain(`\n  ${line.slice(3)}\n`);
  expect(stdout).toContain('Next:\n  1. Replace each TODO; pnpm check lists them.');
});

test('explains its usage', async () => {
  expect(await runNew('event', 'lender.renamed')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: pnpm new event <type> <version> <interface>\n'),
  });
  expect(await runNew('frobnicate')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^pnpm new makes no "frobnicate"\. Use event, event-version, interface-version\.\n\nUsage: /,
    ),
  });
  expect(await runNew('--help')).toMatchObject({ code: 0, stderr: '' });
});

test('undoes what it wrote when it is interrupted, and when a file cannot be written', async () => {
  const interrupt = `import fs from 'node:fs';
    const write = fs.promises.writeFile;
    let calls = 0;
    fs.promises.writeFile = (...args) => { if (++calls === 5) process.kill(process.pid, 'SIGINT'); return write(...args); };`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(interrupt)}`];
  const args = ['event', 'lender.renamed', '2027-06-01', 'lender'];
  expect(await end(spawnNew(flags, args))).toEqual({
    code: 1,
    stdout: '',
    stderr: 'Interrupted by SIGINT. Nothing was written.\n',
  });
  expect(await git('status', '--porcelain')).toBe('');

  // The renderer is the third file.
  writeFileSync(join(folder, 'packages/webhook-rendering/src/lender.renamed'), 'in the way');
  await commitAll();
  expect(await runNew(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was written.\n') });
  expect(await git('status', '--porcelain')).toBe('');
});
