import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { commitAll, commitFirst } from '../../test/support/git.ts';
import { run } from '../cli/run.ts';
import { compareGraphql } from '../graphql/compare-graphql.ts';
import { checkWorkspace } from '../workspace/check-workspace.ts';
import { overridesOf } from './apply-overrides.ts';
import { readConfig } from './config.ts';

// A workspace whose folders have none of the documented names.

const sdl = 'type Query {\n  account: Account\n}\n\ntype Account {\n  id: ID!\n  owner: String!\n}\n';
const event = '{\n  "type": "object",\n  "properties": { "id": { "type": "string" } },\n  "required": ["id"]\n}\n';
const contracts = [
  { kind: 'graphql', folder: 'services/accounts', files: ['schema/*.graphql'], baseline: 'git:HEAD' },
  { kind: 'json-schema', files: ['events/**/*.json'], baseline: 'git:HEAD', package: '@bank/events' },
];

let root: string;
beforeEach(() => {
  root = folderForTest();
  write('package.json', '{ "name": "bank", "private": true, "version": "0.0.0" }');
  write('services/accounts/package.json', '{ "name": "@bank/accounts", "version": "1.4.0" }');
  write('services/accounts/schema/public.graphql', sdl);
  write('events/account/opened.json', event);
  configure({ contracts });
  commitFirst(root);
});

const write = (path: string, text: string) => writeIn(root, path, text);

function configure(config: object): void {
  write('contract-check.json', JSON.stringify(config, null, 2));
}

const check = () => checkWorkspace({ root });
const dropOwner = () => write('services/accounts/schema/public.graphql', sdl.replace('  owner: String!\n', ''));

describe('contracts in any layout', () => {
  test('are compared with a commit, by package', async () => {
    dropOwner();
    write('events/account/opened.json', event.replace('"string"', '["string", "null"]'));
    const { packages, changes } = await check();
    expect(packages.map(({ name, baseline, verdict, problems }) => [name, baseline, verdict, problems.length])).toEqual(
      [
        ['@bank/accounts', 'git:HEAD', 'major', 1],
        ['@bank/events', 'git:HEAD', 'major', 1],
      ],
    );
    expect(changes.map(({ rule, file, location }) => [rule, file, location.file, location.line])).toEqual([
      ['graphql/fieldRemoved', 'schema/public.graphql', join(root, 'services/accounts/schema/public.graphql'), 5],
      ['json-schema/nullAdded', 'events/account/opened.json', join(root, 'events/account/opened.json'), 3],
    ]);
  });

  test('that are added or removed as files are minor and major', async () => {
    rmSync(join(root, 'services/accounts/schema/public.graphql'));
    write('services/accounts/schema/customer.graphql', sdl);
    expect((await check()).changes.map(({ rule, file }) => [rule, file])).toEqual([
      ['version/contractRemoved', 'schema/public.graphql'],
      ['version/contractAdded', 'schema/customer.graphql'],
    ]);
  });

  test('allow a major change with a raised version, unless they are frozen', async () => {
    dropOwner();
    write('services/accounts/package.json', '{ "name": "@bank/accounts", "version": "2.0.0" }');
    expect((await check()).packages[0]).toMatchObject({ verdict: 'major', declared: 'major', problems: [] });
    configure({ contracts: [{ ...contracts[0], frozen: true }] });
    expect((await check()).packages[0]?.problems.map(({ code }) => code)).toEqual(['released-version-broken']);
  });

  test('take the bump of --declared in place of changesets', async () => {
    dropOwner();
    expect((await run(['workspace', '--root', root])).exitCode).toBe(1);
    expect((await run(['workspace', '--root', root, '--declared', 'minor'])).exitCode).toBe(1);
    expect((await run(['workspace', '--root', root, '--declared', 'major'])).exitCode).toBe(0);
  });

  test('are compared with a folder', async () => {
    write('published/accounts/schema/public.graphql', sdl.replace('owner: String!', 'owner: String'));
    configure({ contracts: [{ ...contracts[0], baseline: 'published/accounts' }, contracts[1]] });
    expect((await check()).changes.map(({ rule }) => rule)).toEqual(['graphql/outputNarrowed']);
  });
});

describe('an override', () => {
  const reason = 'The owner was never filled in.';

  test.each([
    ['by rule', { rule: 'graphql/fieldRemoved' }, 'patch'],
    [
      'by rule, coordinate and file',
      { rule: 'graphql/fieldRemoved', coordinate: '*.owner', files: ['services/**'] },
      'patch',
    ],
    ['of another file', { rule: 'graphql/fieldRemoved', files: ['events/**'] }, 'major'],
  ])('sets the verdict %s', async (_, match, verdict) => {
    configure({ contracts, overrides: [{ ...match, verdict: 'patch', reason }] });
    commitAll(root);
    dropOwner();
    const { packages, changes } = await check();
    expect(packages[0]?.verdict).toBe(verdict);
    expect(changes[0]?.override).toEqual(verdict === 'patch' ? { verdict: 'major', reason } : undefined);
  });

  test.each([
    [{ coordinate: 'Account.owner' }, 'patch'],
    [{ coordinate: 'Acc*.*' }, 'patch'],
    [{ rule: 'graphql/fieldAdded' }, 'major'],
    [{ coordinate: 'Account.own' }, 'major'],
  ])('matches by %j', (match, verdict) => {
    const [from, to] = ['  owner: String\n', ''].map(
      (field) => `type Query {\n  account: Account\n}\ntype Account {\n  id: ID\n${field}}\n`,
    );
    const [change] = compareGraphql({ file: 'a', text: from ?? '' }, { file: 'b', text: to ?? '' }).changes;
    if (change === undefined) throw new Error('no change');
    expect(overridesOf([{ ...match, verdict: 'patch', reason }])(change, 'b').verdict).toBe(verdict);
  });

  test('does not lower a verdict in the pull request that adds it', async () => {
    configure({ contracts, overrides: [{ rule: 'graphql/fieldRemoved', verdict: 'patch', reason }] });
    dropOwner();
    expect((await check()).packages[0]?.verdict).toBe('major');
  });

  test('can raise a verdict, and applies to two files', async () => {
    configure({
      overrides: [{ rule: 'graphql/fieldAdded', verdict: 'major', reason: 'Our clients reject new fields.' }],
    });
    write('old.graphql', 'type Query { a: Int }');
    write('new.graphql', 'type Query { a: Int b: Int }');
    const places = ['--from', join(root, 'old.graphql'), '--to', join(root, 'new.graphql')];
    expect((await run(['graphql', ...places])).stdout).toContain('Verdict: minor');
    const { stdout } = await run(['graphql', ...places, '--config', join(root, 'contract-check.json')]);
    expect(stdout).toContain('Verdict: major');
    expect(stdout).toContain(
      'Our clients reject new fields. (The configuration overrides minor: Clients receive a field only if they select it.)',
    );
  });
});

describe('an invalid configuration is named by one line', () => {
  const [first] = contracts;

  test.each([
    [{ contract: [] }, ':2: /contract is not a known member (did you mean "contracts"?)'],
    [{ contracts: [{ ...first, file: [] }] }, ':10: /contracts/0/file is not a known member (did you mean "files"?)'],
    [
      { contracts: [{ ...first, kind: 'sdl' }] },
      ':4: /contracts/0/kind must be one of graphql, json-schema, manifest, api, append-only',
    ],
    [{ contracts: [{ kind: 'graphql' }] }, ":3: /contracts/0 must have required property 'files'"],
    [{ contracts: [{ ...first, folder: 'nowhere' }] }, ': /contracts/0/folder does not exist: nowhere'],
    [{ contracts: [{ ...first, files: ['*.gql'] }] }, ': /contracts/0/files match no file'],
    [
      { overrides: [{ rule: 'graphql/fieldRemoved', verdict: 'none' }] },
      ":3: /overrides/0 must have required property 'reason'",
    ],
    [
      { overrides: [{ rule: 'graphql/fieldRemove', verdict: 'none', reason: 'x' }] },
      ':4: /overrides/0/rule must be the id of a rule, not "graphql/fieldRemove" (did you mean "graphql/fieldRemoved"?)',
    ],
    [
      { overrides: [{ rule: 'version/retiredEarly', verdict: 'none', reason: 'x' }] },
      ':4: /overrides/0/rule cannot be a rule for versions. List the change in contract-exceptions.json.',
    ],
  ])('%j', async (config, message) => {
    configure(config);
    const { exitCode, stdout, stderr } = await run(['workspace', '--root', root]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`contract-check.json${message}`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('contracts together with --baseline', async () => {
    expect((await run(['workspace', '--root', root, '--baseline', root])).stderr).toBe(
      `${join(root, 'contract-check.json')}: lists contracts with their baselines, so --baseline has no effect. Remove one of them.\n`,
    );
  });

  test('a missing file and a missing commit', async () => {
    const config = join(root, 'lost.json');
    expect((await run(['workspace', '--root', root, '--config', config])).stderr).toBe(`${config}: file not found\n`);
    configure({ contracts: [{ ...contracts[0], baseline: 'git:v9' }] });
    expect((await run(['workspace', '--root', root])).stderr).toBe('git:v9: no such commit\n');
  });

  test.each([
    ['contract-check.json', 'nowhere', 'is a link that leads nowhere'],
    ['contract-check.json', 'contract-check.json', 'is a link that leads to itself'],
    ['contract-exceptions.json', 'nowhere', 'is a link that leads nowhere'],
  ])('%s that is a link to %s', async (name, target, problem) => {
    configure({});
    rmSync(join(root, name), { force: true });
    symlinkSync(target, join(root, name));
    expect((await run(['workspace', '--root', root])).stderr).toBe(`${join(root, name)}: ${problem}\n`);
  });
});

test('fails if a folder does not show whether it has a configuration', () => {
  // As in a folder that may not be searched, which does not exist for root.
  expect(() => readConfig(null, 'x'.repeat(300))).toThrow('/contract-check.json: cannot be read (ENAMETOOLONG)');
});

describe('changelog', () => {
  test('prints a changeset with the changes of each package that needs a larger bump', async () => {
    write(
      'services/accounts/schema/public.graphql',
      sdl.replace('owner: String!', 'owner: String\n  "New."\n  iban: String'),
    );
    expect((await run(['changelog', '--root', root])).stdout).toBe(`---
"@bank/accounts": major
---

Breaking changes:

- \`Account.owner\`: The type changed from String! to String. A client that relies on a value may receive null. (schema/public.graphql)

New and deprecated:

- \`Account.iban\`: The field was added with the type String. (schema/public.graphql)
`);
  });

  test('writes the changesets, after which the check passes', async () => {
    dropOwner();
    expect((await run(['changelog', '--root', root, '--write'])).stderr).toBe(
      `${join(root, '.changeset')}: folder not found. Run \`changeset init\`.\n`,
    );
    write('.changeset/config.json', '{}');
    write('package-lock.json', '{}');
    write('package.json', '{ "name": "bank", "private": true, "version": "0.0.0", "workspaces": ["services/*"] }');
    expect((await run(['workspace', '--root', root])).exitCode).toBe(1);
    const { stdout } = await run(['changelog', '--root', root, '--write']);
    const path = join(root, '.changeset/contract-bank-accounts.md');
    expect(stdout).toBe(`${path}\n`);
    expect(readdirSync(join(root, '.changeset')).toSorted()).toEqual(['config.json', 'contract-bank-accounts.md']);
    expect(readFileSync(path, 'utf8')).toContain('"@bank/accounts": major');
    expect((await run(['workspace', '--root', root])).exitCode).toBe(0);
    expect((await run(['changelog', '--root', root])).stdout).toBe('Every change is declared.\n');
  });
});

test('the bumps of a fixed group count as declared', async () => {
  write('package.json', '{ "name": "bank", "private": true, "version": "0.0.0", "workspaces": ["services/*"] }');
  write('package-lock.json', '{}');
  write('services/web/package.json', '{ "name": "@bank/web", "version": "1.4.0" }');
  write('.changeset/config.json', '{ "fixed": [["@bank/accounts", "@bank/web"]] }');
  write('.changeset/a.md', '---\n"@bank/web": major\n---\n\nA new look.\n');
  dropOwner();
  expect((await check()).packages[0]).toMatchObject({ declared: 'major', problems: [] });
});
