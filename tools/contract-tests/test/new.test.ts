import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from './support/command.ts';
import { workspaceRoot } from './support/workspace-copy.ts';

// What `pnpm new` refuses. `long/recipes.test.ts` follows it to a tree that passes every check.

let folder: string;

async function copyTemplates(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'deedwire-new-'));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
  for (const path of [
    'packages/webhook-events/versions.json',
    'packages/webhook-events/event-types.json',
    'packages/webhook-events/src/referral.declined',
    'packages/webhook-events/fixtures/referral.declined',
    'packages/domain/src/event-snapshots.ts',
    'packages/domain/src/personal-data.ts',
    'packages/domain/src/sample-snapshots.ts',
    'packages/partner-schema/versions.json',
    'packages/partner-schema/versions',
    'apps/partner-api/src/versions',
    'packages/webhook-rendering/src/referral.declined',
    // Of `new interface`.
    'apps/lender-api/README.md',
    'apps/lender-api/package.json',
    'apps/lender-api/src',
    'apps/lender-api/tsconfig.build.json',
    'apps/operator-cli/src/commands',
    'packages/actions/package.json',
    'packages/actions/src/index.ts',
    'packages/domain/src/interfaces.ts',
    'packages/domain/src/personal-data.test.ts',
    'packages/domain/src/record-id.ts',
    'packages/graphql-server/src/index.ts',
    'packages/lender-schema',
    'packages/partner-schema/examples',
    'packages/store/migrations',
    'packages/store/package.json',
    'packages/store/test/migrate.test.ts',
    'packages/store/test/support/row-fixtures.ts',
    'packages/webhook-events/fixtures/lender.updated',
    'packages/webhook-events/src/lender.updated',
    'packages/webhook-rendering/src/lender.updated',
    'tools/checks/src/layering.test.ts',
    'tools/contract-tests/test/personal-columns.test.ts',
  ])
    cpSync(join(workspaceRoot, path), join(folder, path), {
      recursive: true,
      filter: (file) => !file.includes('node_modules'),
    });
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
  ...(
    [
      [
        'the name of an interface that exists',
        'lender',
        'The lender interface exists. To add a version, run pnpm new interface-version lender <version>.',
      ],
      [
        'a name in camel case',
        'billingStatement',
        '"billingStatement" is not a name of an interface. Write small letters, and hyphens between words, for example billing-statement.',
      ],
      [
        'a name of two hyphens',
        'billing--statement',
        '"billing--statement" is not a name of an interface. Write small letters, and hyphens between words, for example billing-statement.',
      ],
      [
        'a name in Unicode',
        'lieferantenverhältnis',
        '"lieferantenverhältnis" is not a name of an interface. Write small letters, and hyphens between words, for example billing-statement.',
      ],
      [
        'a name that is too long',
        'a'.repeat(33),
        `"${'a'.repeat(33)}" has 33 characters. The name of an interface has at most 32, because roles and tables contain it.`,
      ],
      ...['user', 'class', 'mutation', 'scalar', 'current-user', 'organization', 'webhook-hook'].map(
        (name): [string, string, string] => [
          `a reserved word, ${name}`,
          name,
          `"${name}" is a word of SQL, JavaScript, GraphQL or the operator's commands. Choose another name.`,
        ],
      ),
      [
        'the name of a table',
        'use-counting',
        'The name "use-counting" is taken by the table use_counting. Choose another name.',
      ],
    ] as const
  ).map(([what, name, line]): [string, string[], string] => [
    what,
    ['interface', name, 'Vendor', 'VendorAccount'],
    line,
  ]),
  [
    'a title that is none',
    ['interface', 'vendor', 'vendor!', 'VendorAccount'],
    '"vendor!" is not a title. Write at most 32 letters and spaces, the first one a capital, for example "Billing statement".',
  ],
  ...(
    [
      [
        'vendor',
        '"vendor" is not a type. Write at most 32 letters, the first one a capital, for example VendorAccount.',
      ],
      ['Lender', 'The type Lender exists. Choose another one, for example VendorAccount.'],
      ['Organization', 'The type Organization exists. Choose another one, for example VendorAccount.'],
      ['Promise', 'The type Promise exists. Choose another one, for example VendorAccount.'],
      ['WebhookEvent', 'The type WebhookEvent exists. Choose another one, for example VendorAccount.'],
      ['UpdateVendorInput', 'The type UpdateVendorInput exists. Choose another one, for example VendorAccount.'],
    ] as const
  ).map(([account, line]): [string, string[], string] => [
    `the type ${account}`,
    ['interface', 'vendor', 'Vendor', account],
    line,
  ]),
])('refuses %s in one line', async (_, [kind = '', ...values], line) => {
  await expect(generators.getGenerator(kind).runPrompts(values)).rejects.toThrow(new Error(line));
});

test('refuses a dirty tree, and a second run with the same name', async () => {
  await copyTemplates();
  const command = ['event-version', 'referral.declined', '2027-06-01'];
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  expect(await runNew(...command)).toMatchObject({
    code: 1,
    stderr:
      'The working tree has changes, for example notes.txt. Commit or undo them, so that you see what is new. Nothing was written.\n',
  });
  await commitAll();
  expect(await runNew(...command)).toMatchObject({ code: 0, stderr: '' });
  expect(await runNew(...command)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'referral.declined has version 2027-06-01. A new version is a later date than 2027-06-01. Nothing was written.\n',
  });
});

test('prints what it wrote and what to do next', async () => {
  await copyTemplates();
  const { stdout } = await runNew('interface-version', 'partner', '2027-06-01');
  const written = (await git('status', '--porcelain', '--untracked-files=all')).trimEnd().split('\n');
  expect(written).toHaveLength(5);
  for (const line of written) expect(stdout).toContain(`\n  ${line.slice(3)}\n`);
  expect(stdout).toContain('Next:\n  1. Replace each TODO; pnpm check lists them.');
});

test('writes a name of two words in the case of each language', async () => {
  await copyTemplates();
  const args = ['interface', 'billing-statement', '--title', 'Billing statement', '--account', 'BillingAccount'];
  expect(await runNew(...args)).toMatchObject({ code: 0, stderr: '' });
  expect(read('packages/domain/src/interfaces.ts')).toContain(
    `  'billing-statement': {\n    title: 'Billing statement',`,
  );
  const sdl = read('packages/billing-statement-schema/versions/*.graphql');
  expect(sdl).toContain('  billingStatement: BillingAccount!\n');
  expect(sdl).toContain('  updateBillingStatement(\n');
  expect(sdl).toContain('for example `billing_statement.updated`');
  expect(read('packages/store/migrations/*-billing-statement.sql')).toMatch(
    /add value 'billing-statement';[^]*create table billing_statement \([^]*to billing_statement_api using \(interface = 'billing-statement'\)/,
  );
  const written = read('{apps,packages}/billing-statement-*/{README.md,package.json,src/**/*.ts,versions/*}') + sdl;
  expect(written).not.toMatch(/lender|team ?member/i);
  expect(written).not.toMatch(/billing-statement[A-Z]|Billing_/);
  expect(await git('status', '--porcelain')).toContain('apps/billing-statement-api/');

  await commitAll();
  const again = await runNew(...args);
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is taken by apps/billing-statement-api/package.json.'),
  });
  expect(await git('status', '--porcelain')).toBe('');
});

test('explains its usage', async () => {
  await copyTemplates();
  expect(await runNew('event', 'lender.renamed')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: pnpm new event <type> <version> <interface>\n'),
  });
  expect(await runNew('frobnicate')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^pnpm new makes no "frobnicate"\. Use event, event-version, interface, interface-version\.\n\nUsage: /,
    ),
  });
  expect(await runNew('--help')).toMatchObject({ code: 0, stderr: '' });
});

/** Flags with which the process sends itself a signal at the nth file that it writes. */
function interrupted(signal: 'SIGINT' | 'SIGKILL', nth: number): string[] {
  const interrupt = `import fs from 'node:fs';
    const write = fs.promises.writeFile;
    let calls = 0;
    fs.promises.writeFile = (...args) => { if (++calls === ${nth}) process.kill(process.pid, '${signal}'); return write(...args); };`;
  return ['--import', `data:text/javascript,${encodeURIComponent(interrupt)}`];
}

test.each([1, 5, 40, 90])('is unfinished for `pnpm check` and a second run if it is killed at file %i', async (nth) => {
  await copyTemplates();
  const args = ['interface', 'vendor', '--title', 'Vendor', '--account', 'VendorAccount'];
  expect(await end(spawnNew(interrupted('SIGKILL', nth), args))).toEqual({ code: null, stdout: '', stderr: '' });
  const left = await git('status', '--porcelain', '--untracked-files=all');
  expect(left.split('\n').length).toBeGreaterThanOrEqual(nth);
  const [todo] = read('.changeset/unfinished.md').split('\n');
  expect(todo).toBe('TODO: `pnpm new` was killed. Run `git restore . && git clean --force -d`.');
  expect(await runNew(...args)).toMatchObject({ code: 1, stderr: `${todo?.slice(6)} Nothing was written.\n` });
  expect(await git('status', '--porcelain', '--untracked-files=all')).toBe(left);
  await git('restore', '.');
  await git('clean', '--force', '-d');
  expect(await runNew(...args)).toMatchObject({ code: 0, stderr: '' });
  expect(read('.changeset/unfinished.md')).toBe('');
});

test('undoes what it wrote when it is interrupted, and when a file cannot be written', async () => {
  await copyTemplates();
  const flags = interrupted('SIGINT', 5);
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
