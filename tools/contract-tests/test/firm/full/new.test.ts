import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { interfaceNames } from '@deedwire/firm';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// What `pnpm new` refuses. `long/recipes.test.ts` follows it to a tree that passes every check.

let folder: string;

function createFolder(): void {
  folder = mkdtempSync(join(tmpdir(), 'deedwire-new-'));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
}

function copyFiles(): void {
  createFolder();
  for (const path of [
    'packages/webhook-events/package.json',
    'packages/webhook-events/versions.json',
    'packages/webhook-events/event-types.json',
    'packages/webhook-events/src/referral.declined',
    'packages/firm/src/events/index.ts',
    'packages/firm/src/events/referral.declined',
    ...interfaceNames.flatMap((name) => [`apps/${name}-api`, `packages/${name}-schema`]),
  ])
    cpSync(join(workspaceRoot, path), join(folder, path), {
      recursive: true,
      filter: (file) => !/node_modules|\/dist(?:\/|$)/.test(file),
    });
}

async function copyTemplates(): Promise<void> {
  copyFiles();
  await git('init', '--quiet');
  await git('config', 'user.name', 'Tester');
  await git('config', 'user.email', 'tester@example.com');
  await commitAll();
}

function git(...args: string[]): Promise<string> {
  return succeed('git', args, { cwd: folder });
}

function read(pattern: string): string {
  return globSync(pattern, { cwd: folder })
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('');
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

interface Generators {
  getGenerator(kind: string): { runPrompts(values: readonly string[]): Promise<object> };
}
// No project of the compiler contains the scripts.
const { openPlop }: { openPlop: (root: string) => Promise<Generators> } = await import(
  join(workspaceRoot, 'scripts/new/plopfile.ts')
);
const generators = await openPlop(workspaceRoot);

test.each<[string, string[], string]>([
  [
    'the name of an event type that exists',
    ['event', 'referral.declined', '2027-06-01', 'partner'],
    'The event type referral.declined exists. To add a version, run pnpm new event-version referral.declined <version>.',
  ],
  [
    'a name that is no event type',
    ['event', 'LenderRenamed', '2027-06-01', 'lender'],
    '"LenderRenamed" is not an event type. Write <noun>.<participle>, for example order.canceled.',
  ],
  ...['api_key', 'webhook', 'webhook_listener'].map((noun): [string, string[], string] => [
    `an event type of ${noun}, which the platform has`,
    ['event', `${noun}.updated`, '2027-06-01', 'all'],
    `Events of ${noun} are those of the platform. Name a record of the application, for example order.canceled.`,
  ]),
  [
    'a version that is no date',
    ['event', 'lender.renamed', '2027-13-01', 'lender'],
    '"2027-13-01" is not a version. A version is a date, for example 2027-06-01.',
  ],
  [
    'a version that is no day of its month',
    ['event', 'lender.renamed', '2027-02-30', 'lender'],
    '"2027-02-30" is not a version. A version is a date, for example 2027-06-01.',
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
    `"both" is not an interface. Use ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(interfaceNames)}.`,
  ],
])('refuses %s in one line', async (_, [kind = '', ...values], line) => {
  await expect(generators.getGenerator(kind).runPrompts(values)).rejects.toThrow(new Error(line));
});

test('refuses a folder without Git in one line', async () => {
  copyFiles();
  expect(await runNew('interface-version', 'partner', '2027-06-01')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^Git does not show what is changed: fatal: not a git repository.* Nothing was written\.\n$/,
    ),
  });
  expect(read('.changeset/*')).toBe('');
});

test('refuses a dirty tree, prints what it wrote and what to do next, and refuses a second run', async () => {
  await copyTemplates();
  const command = ['interface-version', 'partner', '2027-06-01'];
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  expect(await runNew(...command)).toMatchObject({
    code: 1,
    stderr:
      'The working tree has changes, for example notes.txt. Commit or undo them, so that you see what is new. Nothing was written.\n',
  });
  await commitAll();
  const { stdout, ...ended } = await runNew(...command);
  expect(ended).toEqual({ code: 0, stderr: '' });
  const written = (await git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n');
  expect(written).toHaveLength(6);
  for (const line of written) expect(stdout).toContain(`\n  ${line.slice(3)}\n`);
  expect(stdout).toContain('Next:\n  1. Replace each TODO; pnpm check lists them.');
  expect(await runNew(...command)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'The partner interface has version 2027-06-01. A new version is a later date than 2027-06-01. Nothing was written.\n',
  });
});

test('writes `changed` into each file of an update, and into none of another event', async () => {
  await copyTemplates();
  const written = [
    'packages/firm/src/events/partner.*/event.ts',
    'packages/webhook-events/src/partner.*/*.ts',
    'packages/firm/src/events/partner.*/2*.ts',
  ];
  const count = (): number[] =>
    written.map((pattern) => read(pattern).split(/(?<!not )\bchanged\b|\bwithChanged\b/).length);
  const before = count();
  expect(await runNew('event', 'partner.renamed', '2027-06-01', 'partner')).toMatchObject({ code: 0, stderr: '' });
  expect(count()).toEqual(before);
  await commitAll();
  expect(await runNew('event', 'partner.updated', '2027-06-01', 'partner')).toMatchObject({ code: 0, stderr: '' });
  for (const [index, now] of count().entries()) expect(now).toBeGreaterThan(before[index] ?? 0);
});

test('explains its usage', async () => {
  createFolder();
  expect(await runNew('event', 'lender.renamed')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: pnpm new event <type> <version> <interface>\n'),
  });
  expect(await runNew('frobnicate')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^pnpm new does not know "frobnicate"\. Use event, event-version, interface-version\.\n\nUsage: /,
    ),
  });
  expect(await runNew('event', 'lender.renamed', '2027-06-01', 'lender', '--dry-run')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^pnpm new does not know "--dry-run"\..*\n\nUsage: /),
  });
  for (const args of [['--help'], ['event', 'lender.renamed', '-h']])
    expect(await runNew(...args)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Usage: /), stderr: '' });
  expect(readdirSync(folder)).toEqual([]);
});

/** Flags with which the process sends itself a signal at the nth file that it writes. */
function interrupted(signal: 'SIGINT' | 'SIGKILL', nth: number): string[] {
  const interrupt = `import fs from 'node:fs';
    const write = fs.promises.writeFile;
    let calls = 0;
    fs.promises.writeFile = (...args) => { if (++calls === ${nth}) process.kill(process.pid, '${signal}'); return write(...args); };`;
  return ['--import', `data:text/javascript,${encodeURIComponent(interrupt)}`];
}

test.each([1, 5])('is unfinished for `pnpm check` and a second run if it is killed at file %i', async (nth) => {
  await copyTemplates();
  const args = ['event', 'lender.renamed', '2027-06-01', 'lender'];
  expect(await end(spawnNew(interrupted('SIGKILL', nth), args))).toEqual({ code: null, stdout: '', stderr: '' });
  const left = await git('status', '--porcelain', '--untracked-files=all');
  expect(left.split('\n').length).toBeGreaterThanOrEqual(nth);
  const [todo] = read('.changeset/unfinished.md').split('\n');
  expect(todo).toBe(
    'TODO: Another `pnpm new` runs, or was killed. If it was killed, run `git restore . && git clean --force -d`.',
  );
  expect(await runNew(...args)).toMatchObject({ code: 1, stderr: `${todo?.slice(6)} Nothing was written.\n` });
  expect(await git('status', '--porcelain', '--untracked-files=all')).toBe(left);
  await git('restore', '.');
  await git('clean', '--force', '-d');
  expect(await runNew(...args)).toMatchObject({ code: 0, stderr: '' });
  expect(read('.changeset/unfinished.md')).toBe('');
});

test('undoes what it wrote when it is interrupted, and when a file cannot be written', async () => {
  await copyTemplates();
  // With this setting, Git does not say that a file is untracked.
  await git('config', 'status.showUntrackedFiles', 'no');
  writeFileSync(join(folder, 'notes.txt'), 'of the user');
  const args = ['event', 'lender.renamed', '2027-06-01', 'lender'];
  expect((await runNew(...args)).stderr).toMatch(/^The working tree has changes, for example notes\.txt\./);
  await commitAll();
  expect(await end(spawnNew(interrupted('SIGINT', 5), args))).toEqual({
    code: 1,
    stdout: '',
    stderr: 'Interrupted by SIGINT. Nothing was written.\n',
  });
  expect(await git('status', '--porcelain', '--untracked-files')).toBe('');

  // The renderer is the second file.
  writeFileSync(join(folder, 'packages/firm/src/events/lender.renamed'), 'in the way');
  await commitAll();
  expect(await runNew(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was written.\n') });
  expect(await git('status', '--porcelain')).toBe('');
});

test('undoes nothing of another one that ran after it had looked for changes', async () => {
  await copyTemplates();
  const script = join(workspaceRoot, 'scripts/new.ts');
  const args = ['event', 'lender.renamed', '2027-06-01', 'lender'];
  const runsOther = `import { spawnSync } from 'node:child_process';
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const write = fs.writeFileSync;
    fs.writeFileSync = (...args) => {
      fs.writeFileSync = write;
      syncBuiltinESMExports();
      const { status } = spawnSync(process.execPath, ${JSON.stringify([script, ...args])});
      if (status !== 0) process.exit(3);
      return write(...args);
    };
    syncBuiltinESMExports();`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(runsOther)}`];
  expect(await end(spawnNew(flags, args))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The working tree/),
  });
  const left = await git('status', '--porcelain', '--untracked-files=all');
  await git('add', '--all');
  await git('reset', '--quiet', '--hard');
  expect(await runNew(...args)).toMatchObject({ code: 0 });
  expect(left).toBe(await git('status', '--porcelain', '--untracked-files=all'));
});
