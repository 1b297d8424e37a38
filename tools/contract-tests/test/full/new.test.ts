import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { interfaceNames } from '@deedwire/domain';
import { connect } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// What `pnpm new` refuses. `long/recipes.test.ts` follows it to a tree that passes every check.

let folder: string;
const titled = ['--title', 'Spare desk', '--account', 'SpareAccount'];

function createFolder(): void {
  folder = mkdtempSync(join(tmpdir(), 'deedwire-new-'));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
}

function copyFiles(): void {
  createFolder();
  for (const path of [
    'packages/webhook-events/versions.json',
    'packages/webhook-events/event-types.json',
    'packages/webhook-events/src/referral.declined',
    'packages/webhook-events/fixtures/referral.declined',
    'packages/domain/src/event-snapshots.ts',
    'packages/domain/src/personal-data.ts',
    'packages/domain/src/sample-snapshots.ts',
    'packages/webhook-rendering/src/referral.declined',
    // Of `new interface`.
    'docs/threats.md',
    ...interfaceNames.flatMap((name) => [`apps/${name}-api`, `packages/${name}-schema`]),
    'apps/operator-cli/src/commands',
    'packages/actions/package.json',
    'packages/actions/src/index.ts',
    'packages/domain/src/interfaces.ts',
    'packages/domain/src/personal-data.test.ts',
    'packages/domain/src/record-id.ts',
    'packages/graphql-server/src/index.ts',
    'packages/store/migrations',
    'packages/store/package.json',
    'packages/store/test/support/row-fixtures.ts',
    ...['events/fixtures', 'events/src', 'rendering/src'].flatMap((parent) =>
      globSync(`packages/webhook-${parent}/*.updated`, { cwd: workspaceRoot }),
    ),
    'tools/checks/src/layering.test.ts',
    'tools/contract-tests/test/personal-columns.test.ts',
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
  ...(
    [
      [
        'the name of an interface that exists',
        'lender',
        'The lender interface exists. To add a version, run pnpm new interface-version lender <version>.',
      ],
      ...['billingStatement', 'billing--statement', 'lieferantenverhältnis'].map((name): [string, string, string] => [
        `the malformed name ${name}`,
        name,
        `"${name}" is not a name of an interface. Write small letters, and hyphens between words, for example billing-statement.`,
      ]),
      [
        'a name that is too long',
        'a'.repeat(33),
        `"${'a'.repeat(33)}" has 33 characters. The name of an interface has at most 32, because roles and tables contain it.`,
      ],
      ...['class', 'mutation', 'organization', 'webhook-hook', 'value-of', 'vendor-api', 'receiver'].map(
        (name): [string, string, string] => [
          `a reserved word, ${name}`,
          name,
          `"${name}" is a word of SQL, JavaScript, GraphQL, the operator's commands or this repository. Choose another name.`,
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
    ['interface', name, 'Spare desk', 'SpareDesk'],
    line,
  ]),
  [
    'the title of an interface that exists',
    ['interface', 'spare-desk', 'LENDER', 'SpareDesk'],
    'The title "LENDER" is that of another interface. Choose another one.',
  ],
  [
    'a title that is none',
    ['interface', 'spare-desk', 'Vendor "<b>\n', 'SpareDesk'],
    '"Vendor \\"<b>\\n" is not a title. Write at most 32 letters and spaces, the first one a capital, for example "Billing statement".',
  ],
  ...(
    [
      [
        'vendor',
        '"vendor" is not a type. Write at most 32 letters, the first one a capital, for example VendorAccount.',
      ],
      ...[
        'Lender',
        'Organization',
        'Promise',
        'WebhookEvent',
        'UpdateSpareDeskInput',
        'MutationUpdateSpareDeskArgs',
        'LENDER',
        'Subscription',
        'Maybe',
        'ErrorCode',
        'Record',
        'AccountType',
        'LenderName',
        'Connections',
      ].map(
        (account) =>
          [account, `The type ${account} exists. Choose another one, for example SpareDeskAccount.`] as const,
      ),
    ] as const
  ).map(([account, line]): [string, string[], string] => [
    `the type ${account}`,
    ['interface', 'spare-desk', 'Spare desk', account],
    line,
  ]),
])('refuses %s in one line', async (_, [kind = '', ...values], line) => {
  await expect(generators.getGenerator(kind).runPrompts(values)).rejects.toThrow(new Error(line));
});

test('refuses the name of each relation and type of the database, and of each word that PostgreSQL reserves', async () => {
  const database = await createMigratedDatabase();
  const superuser = await connect(database.databaseUrl);
  onTestFinished(async () => {
    await superuser.close();
    await database.drop();
  });
  const names = await superuser.run(
    `select replace(name, '_', '-') as name
     from (
       select relname from pg_class where relnamespace = 'public'::regnamespace
       union select typname from pg_type where typnamespace = 'public'::regnamespace
       union select word from pg_get_keywords() where catcode <> 'U'
     ) taken (name)
     where name ~ '^[a-z]+(_[a-z]+)*$' and length(name) <= 32`,
  );
  expect(names.length).toBeGreaterThan(200);
  const generator = generators.getGenerator('interface');
  const answered = await Promise.allSettled(
    names.map(({ name }) => generator.runPrompts([String(name), 'Spare desk', 'SpareDesk'])),
  );
  expect(names.filter((_, index) => answered[index]?.status === 'fulfilled')).toEqual([]);
});

test('refuses a folder without Git in one line', async () => {
  copyFiles();
  expect(await runNew('interface', 'spare-desk', ...titled)).toEqual({
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
  expect(written).toHaveLength(5);
  for (const line of written) expect(stdout).toContain(`\n  ${line.slice(3)}\n`);
  expect(stdout).toContain('Next:\n  1. Replace each TODO; pnpm check lists them.');
  expect(await runNew(...command)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'The partner interface has version 2027-06-01. A new version is a later date than 2027-06-01. Nothing was written.\n',
  });
});

// It copies an interface with such an event only.
const copied = interfaceNames.filter((name) =>
  existsSync(join(workspaceRoot, `packages/webhook-events/src/${name}.updated`)),
);

test.each(copied)('writes a name that contains that of an interface that it may copy, %s', async (name) => {
  await copyTemplates();
  expect(await runNew('interface', `${name}-desk`, ...titled)).toMatchObject({ code: 0, stderr: '' });
  const written = read(`{apps,packages}/${name}-desk-*/{README.md,package.json,src/**/*.ts,versions/*,examples/*/*}`);
  expect(written).toContain(`"name": "@deedwire/${name}-desk-schema"`);
  expect(written).not.toMatch(/desk[ _-]?desk/i);
});

test('writes a name of two words in the case of each language', async () => {
  await copyTemplates();
  const args = ['interface', 'spare-desk', ...titled];
  expect(await runNew(...args)).toMatchObject({ code: 0, stderr: '' });
  expect(read('packages/domain/src/interfaces.ts')).toContain(`  'spare-desk': {\n    title: 'Spare desk',`);
  const sdl = read('packages/spare-desk-schema/versions/*.graphql');
  expect(sdl).toContain('  spareDesk: SpareAccount!\n');
  expect(sdl).toContain('  updateSpareDesk(\n');
  expect(sdl).toContain('for example `spare_desk.updated`');
  expect(read('packages/store/migrations/*-spare-desk.sql')).toMatch(
    /add value 'spare-desk';[^]*create table spare_desk \([^]*to spare_desk_api using \(interface = 'spare-desk'\)/,
  );
  const written = read('{apps,packages}/spare-desk-*/{README.md,package.json,src/**/*.ts,versions/*}') + sdl;
  expect(written).not.toMatch(/lender|team ?member/i);
  expect(written).not.toMatch(/spare-desk[A-Z]|Spare_/);
  expect(await git('status', '--porcelain')).toContain('apps/spare-desk-api/');

  await commitAll();
  const again = await runNew(...args);
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is taken by apps/spare-desk-api/package.json.'),
  });
  expect(await git('status', '--porcelain')).toBe('');
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
      /^pnpm new does not know "frobnicate"\. Use event, event-version, interface, interface-version\.\n\nUsage: /,
    ),
  });
  expect(await runNew('interface', 'spare-desk', ...titled, '--dry-run')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^pnpm new does not know "--dry-run"\..*\n\nUsage: /),
  });
  for (const args of [['--help'], ['interface', 'spare-desk', ...titled, '-h']])
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

test.each([1, 40])('is unfinished for `pnpm check` and a second run if it is killed at file %i', async (nth) => {
  await copyTemplates();
  const args = ['interface', 'spare-desk', ...titled];
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

  // The renderer is the third file.
  writeFileSync(join(folder, 'packages/webhook-rendering/src/lender.renamed'), 'in the way');
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
