import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create } from 'tar';
import { describe, expect, test } from 'vitest';
import { folderForTest, writeAllIn } from '../../test/support/folders.ts';
import { run } from '../cli/run.ts';
import { checkWorkspace, type WorkspaceOptions, type WorkspaceReport } from './check-workspace.ts';

const sdl = `type Query {
  "The ledger."
  ledger: Ledger!
  entries(first: Int = 20): [Entry!]!
}

type Ledger {
  id: ID!
  name: String!
}

type Entry {
  id: ID!
  kind: EntryKind!
}

enum EntryKind {
  DEBIT
  CREDIT
}
`;

const manifest = `{
  "errors": {
    "NOT_FOUND": { "status": { "application/json": 404 } },
    "RATE_LIMITED": { "status": { "application/json": 429 } }
  },
  "requestHeaders": { "X-Api-Key": { "required": true }, "X-Version": { "required": false } },
  "responseHeaders": { "Retry-After": { "sent": [429, 503] } },
  "limits": { "queryDepth": 10 },
  "pagination": { "firstMaximum": 100 }
}
`;

const event = `{
  "type": "object",
  "properties": {
    "entryId": { "type": "string" },
    "amount": { "type": "integer", "minimum": 0 }
  },
  "required": ["entryId", "amount"]
}
`;

const apiVersions = `{
  "2026-01-01": { "status": "deprecated", "deprecatedOn": "2026-06-01", "sunsetOn": "2027-06-01" },
  "2026-06-01": { "status": "current", "deprecatedOn": null, "sunsetOn": null },
  "2027-01-01": { "status": "preview", "deprecatedOn": null, "sunsetOn": null }
}
`;

/** The files of a workspace with an API in three versions and one event, all released, by path. */
const released: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "books", "private": true, "version": "0.0.0", "workspaces": ["packages/*"] }',
  'package-lock.json': '{}',
  '.changeset/README.md': 'Not a changeset.',
  '.changeset/config.json': '{}',
  'packages/ledger-api/package.json': '{ "name": "@books/ledger-api", "version": "1.0.0" }',
  'packages/ledger-api/versions.json': apiVersions,
  ...Object.fromEntries(
    ['2026-01-01', '2026-06-01', '2027-01-01'].flatMap((version) => [
      [`packages/ledger-api/versions/${version}.graphql`, sdl],
      [`packages/ledger-api/versions/${version}.manifest.json`, manifest],
    ]),
  ),
  'packages/ledger-events/package.json': '{ "name": "@books/ledger-events", "version": "1.0.0" }',
  'packages/ledger-events/json-schema/entry.posted/2026-01-01.json': event,
  'packages/ledger-events/fixtures/package.json': '{ "name": "not-a-workspace-package" }',
  'packages/ledger-events/fixtures/versions/2026-01-01.graphql': 'broken',
  'packages/no-contract/package.json': '{ "name": "@books/no-contract", "version": "1.0.0" }',
};

/** A workspace whose contracts are as in its folder `.released`. `merged-state.test.ts` finds what was released in git. */
function workspace(more: Readonly<Record<string, string>> = {}): string {
  const root = folderForTest();
  for (const folder of [root, join(root, '.released')]) writeAllIn(folder, { ...released, ...more });
  return root;
}

function check(root: string, options: Partial<WorkspaceOptions> = {}): Promise<WorkspaceReport> {
  return checkWorkspace({ root, baselines: [join(root, '.released')], ...options });
}

function runCheck(root: string, ...args: readonly string[]): ReturnType<typeof run> {
  return run(['workspace', '--root', root, '--baseline', join(root, '.released'), ...args]);
}

async function codesIn(root: string, options?: Partial<WorkspaceOptions>): Promise<string[]> {
  return (await check(root, options)).packages.flatMap(({ problems }) => problems.map(({ code }) => code));
}

function edit(root: string, path: string, from: string, to: string): void {
  const file = join(root, path);
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  writeFileSync(file, text.replace(from, to));
}

const api = 'packages/ledger-api';
const contract = `${api}/versions/2026-06-01.graphql`;
const events = 'packages/ledger-events';

// `firm/seeded-breaks.test.ts` has more breaks, and pins the reports.
test.each([
  ['a deprecated version loses a value', `${api}/versions/2026-01-01.graphql`, '  DEBIT\n', 'enumValueRemovedOutput'],
  [
    'a bound of an event is loosened',
    `${events}/json-schema/entry.posted/2026-01-01.json`,
    ', "minimum": 0',
    'boundLoosened',
  ],
])('fails if %s, even if a changeset declares a major', async (_, path, lost, rule) => {
  const root = workspace();
  edit(root, path, lost, '');
  const names = ['ledger-api', 'ledger-events'].map((name) => `"@books/${name}": major\n`).join('');
  writeAllIn(root, { '.changeset/a.md': `---\n${names}---\n` });
  const { changes } = await check(root);
  expect(changes.map((change) => change.rule.replace(/.*\//, ''))).toEqual([rule]);
  expect(await codesIn(root)).toEqual(['released-version-broken']);
});

test('a changed description needs a patch bump', async () => {
  const root = workspace();
  edit(root, contract, '"The ledger."', '"Your ledger."');
  expect(await codesIn(root, { declared: 'none' })).toEqual(['bump-too-small']);
  expect(await codesIn(root, { declared: 'patch' })).toEqual([]);
});

describe('passes', () => {
  test('when nothing changed', async () => {
    const root = workspace();
    const { exitCode, stdout } = await runCheck(root);
    expect(exitCode).toBe(0);
    expect(stdout.replaceAll(root, 'ROOT')).toBe(
      [
        '@books/ledger-api: verdict none, declared bump none (compared with ROOT/.released/packages/ledger-api)',
        '',
        '@books/ledger-events: verdict none, declared bump none (compared with ROOT/.released/packages/ledger-events)',
        '',
        'Passed: every change is declared, and no released version is broken.',
        '',
      ].join('\n'),
    );
  });

  test('when a changeset declares the addition', async () => {
    const root = workspace();
    edit(root, contract, '  CREDIT\n', '  CREDIT\n  REVERSAL\n');
    writeAllIn(root, {
      '.changeset/brave-cats.md': '---\n"@books/ledger-api": minor\n---\n\nEntries can be reversals.\n',
    });
    expect(await runCheck(root)).toMatchObject({ exitCode: 0 });
  });

  test('by --declared, which replaces the pending changesets', async () => {
    const root = workspace();
    edit(root, contract, '  CREDIT\n', '  CREDIT\n  REVERSAL\n');
    writeAllIn(root, { '.changeset/a.md': '---\n"@books/ledger-api": minor\n---\n' });
    expect((await runCheck(root, '--declared', 'patch')).exitCode).toBe(1);
    writeAllIn(root, { '.changeset/a.md': null });
    expect((await runCheck(root, '--declared', 'minor')).exitCode).toBe(0);
  });

  test.each([
    [
      'Changesets 2, which the check leaves as it is',
      { '.changeset/pre.json': '{ "mode": "pre", "tag": "next", "initialVersions": {}, "changesets": ["a"] }' },
      '.changeset/a.md',
    ],
    ['Changesets 3', { '.changeset/pre.json': '{ "mode": "pre", "tag": "next" }' }, '.changeset/pre/a.md'],
  ])('in pre mode of %s, by the changesets that no pre-release contains', async (_, files, consumed) => {
    const root = workspace();
    edit(root, contract, '  CREDIT\n', '  CREDIT\n  REVERSAL\n');
    writeAllIn(root, { ...files, [consumed]: '---\n"@books/ledger-api": minor\n---\n' });
    const stored = (): unknown =>
      readdirSync(join(root, '.changeset'), { recursive: true })
        .map((path) => String(path))
        .toSorted();
    const before = stored();
    expect(await runCheck(root)).toMatchObject({ exitCode: 1 });
    writeAllIn(root, { '.changeset/b.md': '---\n"@books/ledger-api": minor\n---\n' });
    expect(await runCheck(root)).toMatchObject({ exitCode: 0 });
    writeAllIn(root, { '.changeset/b.md': null });
    expect(stored()).toEqual(before);
    expect(readFileSync(join(root, '.changeset/pre.json'), 'utf8')).toBe(files['.changeset/pre.json']);
  });

  test('when a minor adds a version and breaks a preview', async () => {
    const root = workspace();
    writeAllIn(root, {
      [`${api}/versions/2027-06-01.graphql`]: sdl.replace('  name: String!\n', ''),
      '.changeset/a.md': '---\n"@books/ledger-api": minor\n---\n',
    });
    edit(root, `${api}/versions/2027-01-01.graphql`, '  name: String!\n', '');
    expect(await runCheck(root)).toMatchObject({ exitCode: 0 });
  });

  test('when a major removes a version whose sunset has passed, but not when a minor does', async () => {
    const root = workspace();
    const exitCode = async (today: string) => (await runCheck(root, '--today', today)).exitCode;
    writeAllIn(root, {
      [`${api}/versions/2026-01-01.graphql`]: null,
      [`${api}/versions/2026-01-01.manifest.json`]: null,
      '.changeset/a.md': '---\n"@books/ledger-api": minor\n---\n',
    });
    expect(await exitCode('2027-06-01')).toBe(1);
    writeAllIn(root, { '.changeset/a.md': "---\n'@books/ledger-api': major\n---\n" });
    expect(await exitCode('2027-06-01')).toBe(0);
    expect(await exitCode('2027-05-31')).toBe(1);
  });

  test('when a minor adds a limit with introducedWith for a new field', async () => {
    const root = workspace();
    edit(root, contract, '  name: String!\n', '  name: String!\n  notes: [String!]!\n');
    const limits = '"notes": { "value": 50, "introducedWith": "Ledger.notes" }, "queryDepth": 10';
    edit(root, `${api}/versions/2026-06-01.manifest.json`, '"queryDepth": 10', limits);
    expect((await check(root)).verdict).toBe('minor');
  });

  test('for every change before the first release', async () => {
    const root = workspace();
    writeAllIn(root, { 'packages/new/package.json': '{ "name": "new" }', 'packages/new/versions/1.graphql': sdl });
    const { exitCode, stdout } = await runCheck(root);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('new: not released yet, so every change is allowed');
  });
});

test('the minimum lifetime of a package applies to its sunsets', async () => {
  const root = workspace();
  const current = '"2026-06-01": { "status": "current", "deprecatedOn": null, "sunsetOn": null }';
  const deprecated = '"2026-06-01": { "status": "deprecated", "deprecatedOn": "2027-01-31", "sunsetOn": "2027-06-30" }';
  edit(root, `${api}/versions.json`, current, deprecated);
  writeAllIn(root, { '.changeset/a.md': '---\n"@books/ledger-api": minor\n---\n' });
  const codes = async () => (await check(root, { today: '2027-01-31' })).packages[0]?.problems.map(({ code }) => code);
  expect(await codes()).toEqual([]);
  edit(root, `${api}/package.json`, '"1.0.0"', '"1.0.0", "contractCheck": { "minimumLifetimeMonths": 5 }');
  expect(await codes()).toEqual(['released-version-broken']);
});

test('the package that serves a contract is bumped with it', async () => {
  const root = workspace();
  edit(root, `${api}/package.json`, '"1.0.0"', '"1.0.0", "contractCheck": { "servedBy": ["@books/ledger-server"] }');
  writeAllIn(root, { 'packages/ledger-server/package.json': '{ "name": "@books/ledger-server", "version": "1.0.0" }' });
  const codes = async () => (await check(root)).packages[0]?.problems.map(({ code }) => code);
  expect(await codes()).toEqual([]);
  edit(root, contract, '  CREDIT\n', '  CREDIT\n  REVERSAL\n');
  writeAllIn(root, { '.changeset/a.md': '---\n"@books/ledger-api": minor\n---\n' });
  expect(await codes()).toEqual(['server-not-bumped']);
  expect((await runCheck(root)).stdout).toContain('npx changeset add --minor @books/ledger-server');
  writeAllIn(root, { '.changeset/b.md': '---\n"@books/ledger-server": patch\n---\n' });
  expect(await codes()).toEqual([]);
});

describe('API reports and append-only files', () => {
  const report = '{ "declarations": { "post": { "kind": "function", "signature": "(id: string): void" } } }';
  const codes = '{ "errors": ["MISSING", "TOO_OLD"] }';
  const settings =
    '{ "name": "@books/ledger-client", "version": "1.0.0", "contractCheck": { "appendOnly": ["error-codes.json"] } }';
  const client = 'packages/ledger-client';

  function clientWorkspace(version = '1.0.0'): string {
    const root = workspace({
      [`${client}/package.json`]: settings.replace('1.0.0', version),
      [`${client}/api/index.api.json`]: report,
      [`${client}/error-codes.json`]: codes,
    });
    writeAllIn(root, { '.changeset/a.md': '---\n"@books/ledger-client": minor\n---\n' });
    return root;
  }

  const problemsOf = async (root: string): Promise<unknown> =>
    (await check(root)).packages.find(({ path }) => path === client)?.problems.map(({ code }) => code);

  test('an unchanged package passes', async () => {
    expect(await problemsOf(clientWorkspace())).toEqual([]);
  });

  test('a changed declaration needs a major bump', async () => {
    const root = clientWorkspace();
    edit(root, `${client}/api/index.api.json`, 'void', 'boolean');
    expect(await problemsOf(root)).toEqual(['bump-too-small']);
    writeAllIn(root, { '.changeset/a.md': '---\n"@books/ledger-client": major\n---\n' });
    expect(await problemsOf(root)).toEqual([]);
  });

  // `^0.2.0` excludes 0.3.0, and `^0.0.2` excludes 0.0.3.
  test.each([
    ['1.2.0', 'minor', 'the changes need a major bump, but only a minor bump is declared.'],
    ['0.2.0', 'patch', 'the changes need a minor bump, but only a patch bump is declared.'],
    ['0.2.0', 'minor', null],
    ['0.0.2', 'none', 'the changes need a patch bump, but no bump is declared.'],
    ['0.0.2', 'patch', null],
  ] as const)('a changed declaration of %s with a %s bump: %s', async (version, declared, message) => {
    const root = clientWorkspace(version);
    edit(root, `${client}/api/index.api.json`, 'void', 'boolean');
    const { packages } = await check(root, { declared });
    const found = packages.find(({ path }) => path === client);
    expect(found).toMatchObject({ baselineVersion: version, verdict: 'major', declared });
    expect(found?.problems.map((problem) => problem.message)).toEqual(message === null ? [] : [message]);
  });

  test('a version raised from 0.2.0 declares a breaking change with 0.3.0, not with 0.2.1', async () => {
    const root = clientWorkspace('0.2.0');
    writeAllIn(root, { '.changeset/a.md': null });
    edit(root, `${client}/api/index.api.json`, 'void', 'boolean');
    edit(root, `${client}/package.json`, '0.2.0', '0.2.1');
    expect(await problemsOf(root)).toEqual(['bump-too-small']);
    edit(root, `${client}/package.json`, '0.2.1', '0.3.0');
    expect(await problemsOf(root)).toEqual([]);
  });

  test('a removed entry point needs a major bump, and an added one a minor bump', async () => {
    const root = clientWorkspace();
    writeAllIn(root, { [`${client}/api/index.api.json`]: null, [`${client}/api/web.api.json`]: report });
    expect((await check(root)).changes.map(({ verdict, rule, file }) => [verdict, rule, file])).toEqual([
      ['major', 'version/contractRemoved', 'api/index.api.json'],
      ['minor', 'version/contractAdded', 'api/web.api.json'],
    ]);
  });

  test.each([
    ['an entry is renamed', { [`${client}/error-codes.json`]: '{ "errors": ["MISSING", "TOO_LATE"] }' }],
    ['the file is removed', { [`${client}/error-codes.json`]: null }],
    [
      'the file is no longer listed',
      {
        [`${client}/error-codes.json`]: '{ "errors": ["MISSING"] }',
        [`${client}/package.json`]: '{ "name": "@books/ledger-client", "version": "1.0.0" }',
      },
    ],
  ])('no bump is enough if %s', async (_, files) => {
    const root = clientWorkspace();
    writeAllIn(root, { ...files, '.changeset/a.md': '---\n"@books/ledger-client": major\n---\n' });
    expect(await problemsOf(root)).toEqual(['released-version-broken']);
  });
});

test('compares with a folder or a tarball and counts the bump of the version', async () => {
  const root = workspace();
  const before = join(root, '.released');
  edit(root, contract, '  CREDIT\n', '  CREDIT\n  REVERSAL\n');
  const tarball = join(before, 'ledger-api.tgz');
  cpSync(join(before, api), join(before, 'package'), { recursive: true });
  create({ file: tarball, gzip: true, sync: true, cwd: before }, ['package']);
  rmSync(join(before, 'package'), { recursive: true });

  for (const baseline of [before, tarball, join(before, api)]) {
    const report = async () => (await check(root, { baselines: [baseline] })).packages[0];
    expect(await report()).toMatchObject({
      verdict: 'minor',
      declared: 'none',
      problems: [{ code: 'bump-too-small' }],
    });
    edit(root, `${api}/package.json`, '1.0.0', '1.1.0');
    expect(await report()).toMatchObject({ verdict: 'minor', declared: 'minor', problems: [] });
    edit(root, `${api}/package.json`, '1.1.0', '1.0.0');
  }
});

async function stderrOf(...args: string[]): Promise<string> {
  return (await run(['workspace', ...args])).stderr;
}

describe('invalid input', () => {
  test.each<[string, Record<string, string>, string]>([
    ['an SDL file', { [contract]: 'type Query {\n  a: Foo\n}' }, '2026-06-01.graphql:2: Unknown type "Foo".'],
    [
      'a manifest',
      { [`${api}/versions/2026-06-01.manifest.json`]: '{\n"limits": { "a": "x" } }' },
      '2026-06-01.manifest.json:2: /limits/a must be number',
    ],
    [
      'an event',
      { [`${events}/json-schema/entry.posted/2026-01-01.json`]: '{' },
      '2026-01-01.json:1: is not JSON: Expected property name',
    ],
    [
      'versions.json',
      { [`${api}/versions.json`]: '{\n"2026-01-01": { "status": "old" } }' },
      'versions.json:2: /2026-01-01/status must be one of',
    ],
    ['a package.json', { [`${api}/package.json`]: '{' }, 'package.json:1: '],
    [
      'settings',
      { [`${api}/package.json`]: '{ "name": "a", "contractCheck": { "direction": "up" } }' },
      'package.json:1: /contractCheck/direction must be one of producer, consumer, both',
    ],
    ['a changeset without frontmatter', { '.changeset/a.md': 'Hello' }, 'a.md:1: missing or invalid frontmatter.'],
    [
      'a changeset with an unknown bump',
      { '.changeset/a.md': '---\n"b": minor\n"a": huge\n---\n' },
      'a.md:3: invalid version type "huge" for package "a".',
    ],
    [
      'a changeset of an unknown package',
      { '.changeset/a.md': '---\n"@books/ledger-api": minor\n"@books/lost": minor\n---\n' },
      'a.md:3: ',
    ],
    ['the configuration of Changesets', { '.changeset/config.json': '{ "fixed": 1 }' }, '.changeset/config.json: '],
    ['the pre mode of Changesets', { '.changeset/pre.json': '{}' }, 'pre.json: has no "mode" and "tag".'],
    ['a changeset that is not YAML', { '.changeset/a.md': '---\n"a": minor\n"b: [\n---\n' }, 'a.md:'],
  ])('exits 2 and names the file: %s', async (_, files, message) => {
    const root = workspace();
    writeAllIn(root, files);
    const { exitCode, stdout, stderr } = await runCheck(root);
    expect(stderr).toContain(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  test('reports a missing or empty root and a missing, empty or broken baseline', async () => {
    const empty = folderForTest();
    const root = workspace();
    writeFileSync(join(empty, 'broken.tgz'), 'not a tarball');
    expect(await stderrOf('--root', empty)).toContain('found no package that contains');
    expect(await stderrOf('--root', join(empty, 'nowhere'))).toContain('is not a readable folder');
    expect(await stderrOf('--root', root, '--baseline', join(empty, 'nowhere'))).toContain(
      'folder or tarball not found',
    );
    expect(await stderrOf('--root', root, '--baseline', empty)).toContain('contains no contract package');
    expect(await stderrOf('--root', root, '--baseline', join(empty, 'broken.tgz'))).toContain('broken.tgz: ');
  });
});
