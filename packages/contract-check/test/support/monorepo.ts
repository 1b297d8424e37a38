import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { broken, contract, manifest, sdl } from './gated-repository.ts';
import { commitAll, git } from './git.ts';
import { command, type CommandResult } from './packed-package.ts';

interface Manager {
  readonly name: string;
  readonly install: readonly string[];
  readonly run: readonly string[];
  /** How a remedy runs Changesets. */
  readonly remedy: string;
}

export const npm: Manager = {
  name: 'npm',
  install: ['npm', 'install', '--no-audit', '--no-fund'],
  run: ['npx'],
  remedy: 'npx changeset',
};

export const otherManagers: readonly Manager[] = [
  {
    name: 'pnpm',
    install: ['npx', '-y', 'pnpm@12.21.0', 'install'],
    run: ['npx', '-y', 'pnpm@12.21.0', 'exec'],
    remedy: 'pnpm changeset',
  },
  {
    name: 'yarn 1',
    install: ['npx', '-y', 'yarn@1.22.22', 'install', '--no-progress'],
    run: ['npx', '-y', 'yarn@1.22.22', '--silent', 'run'],
    remedy: 'yarn changeset',
  },
  {
    name: 'yarn 4',
    install: ['npx', '-y', '--package=@yarnpkg/cli-dist@4.18.1', 'yarn', 'install'],
    run: ['npx', '-y', '--package=@yarnpkg/cli-dist@4.18.1', 'yarn', 'run'],
    remedy: 'yarn changeset',
  },
];

type Files = Readonly<Record<string, string | null>>;

const released = 'packages/api/released/versions/2026-01-01.graphql';
const breaksVersion = 'versions/2026-01-01.graphql breaks a released version';
const exception = {
  package: '@books/api',
  file: 'versions/2026-01-01.graphql',
  rule: 'graphql/fieldRemoved',
  coordinate: 'Query.b',
  verdict: 'none',
  reason: 'The field shows secrets.',
  expiresOn: '2999-12-31',
  approvedBy: 'Ada Example',
};
const listing = (...files: string[]): string =>
  JSON.stringify({ contracts: files.map((file) => ({ kind: 'graphql', folder: 'packages/api', files: [file] })) });

/** What a pull request does, after another one was merged, and the message that rejects it. */
export const attacks: readonly (readonly [name: string, merged: Files | null, changes: Files, message: string])[] = [
  ['copies the broken version over released/', null, { [contract]: broken, [released]: broken }, breaksVersion],
  ['removes released/', null, { [contract]: broken, 'packages/api/released': null }, breaksVersion],
  [
    'renames the package',
    null,
    { [contract]: broken, 'packages/api/package.json': '{ "name": "next", "version": "1.0.0" }' },
    '@books/api was removed, which no bump allows',
  ],
  [
    'brings its own exception',
    null,
    { [contract]: broken, 'contract-exceptions.json': JSON.stringify({ exceptions: [exception] }) },
    'merge the exception in an earlier pull request of its own',
  ],
  [
    'deletes the entry of a contract and its file',
    {
      'contract-check.json': listing('a.graphql', 'b.graphql', 'versions/*.graphql'),
      'packages/api/a.graphql': sdl,
      'packages/api/b.graphql': sdl,
      'packages/api/package.json': manifest('1.1.0'),
    },
    { 'contract-check.json': listing('a.graphql', 'versions/*.graphql'), 'packages/api/b.graphql': null },
    'b.graphql was removed.',
  ],
  [
    'adds a package with the name of the one that it breaks',
    null,
    { [contract]: broken, 'fixtures/old/package.json': manifest('1.0.0'), 'fixtures/old/versions/1.graphql': sdl },
    breaksVersion,
  ],
  [
    'breaks a package after an invalid package.json was merged',
    { 'packages/api/package.json': '{' },
    { 'packages/api/package.json': manifest('1.0.0'), [contract]: broken },
    breaksVersion,
  ],
  [
    'lowers a version after a major was merged',
    {
      'contract-check.json': listing('schema.graphql'),
      'packages/api/schema.graphql': broken,
      'packages/api/package.json': manifest('2.0.0'),
    },
    { 'packages/api/package.json': manifest('1.0.1') },
    'the changes need a major bump since 1.0.0, but "version" is 1.0.1',
  ],
  [
    'takes a contract to a package inside its package',
    {
      'contract-check.json': JSON.stringify({
        contracts: [{ kind: 'graphql', folder: 'packages/api/part', files: ['*.graphql'], partial: true }],
      }),
    },
    { 'packages/api/part/package.json': '{ "name": "x", "version": "0.0.1" }' },
    'the configuration does not list it for @books/api',
  ],
];

const nodes =
  'type Query { n: Node } interface Node { id: ID! name: String } type A implements Node { id: ID! name: String }';
const compared = ['--from', 'packages/next/old.graphql', '--to', 'packages/next/new.graphql'];

/** What teams of other repositories once met: the files that a pull request adds, a command, and its result. */
export const verdicts: readonly (readonly [
  name: string,
  changes: Files,
  args: readonly string[],
  expected: { readonly status: number; readonly text: string },
])[] = [
  [
    'a narrowed output field beside one that stays nullable is major',
    {
      'packages/next/old.graphql': nodes,
      'packages/next/new.graphql': nodes.replace(/name: String }$/, 'name: String! }'),
    },
    ['graphql', ...compared, '--declared', 'minor'],
    { status: 1, text: 'graphql/outputNarrowedUnevenly' },
  ],
  [
    'a minor bump may break a package below 1.0.0',
    {
      'packages/next/package.json': '{ "name": "@books/next", "version": "0.2.0" }',
      'packages/next/old.graphql': sdl,
      'packages/next/new.graphql': broken,
    },
    ['graphql', ...compared, '--declared', 'minor'],
    { status: 0, text: 'Passed: the declared bump is minor.' },
  ],
  [
    'minProperties that required implies changes nothing',
    {
      'packages/next/old.json': '{ "required": ["a"], "type": "object" }',
      'packages/next/new.json': '{ "required": ["a"], "type": "object", "minProperties": 1 }',
    },
    'json-schema --direction consumer --declared patch --from packages/next/old.json --to packages/next/new.json'.split(
      ' ',
    ),
    { status: 0, text: 'Passed: the declared bump is patch.' },
  ],
  [
    'the first version of a schema gets a verdict',
    { 'packages/next/new.graphql': sdl },
    ['graphql', '--from', 'git:main', '--to', 'packages/next/new.graphql', '--declared', 'minor'],
    { status: 0, text: 'packages/next/new.graphql was added.' },
  ],
  [
    'a commit can be the baseline',
    { [contract]: broken },
    ['workspace', '--baseline', 'git:origin/main'],
    { status: 1, text: breaksVersion },
  ],
  [
    'an unknown rule is suggested',
    {},
    ['explain', 'fieldRemoved'],
    { status: 2, text: 'did you mean "graphql/fieldRemoved"?' },
  ],
  ['the schemas of the repository are found', {}, ['find'], { status: 0, text: 'packages/api/schema.graphql' }],
];

/** A clone of a repository in which a package manager has installed the packed package. */
export interface Monorepo {
  readonly root: string;
  /** The folder of the clone and of its origin. */
  readonly parent: string;
  readonly check: (...args: string[]) => CommandResult;
  /** Null removes a file or a folder. */
  readonly commit: (files: Files) => void;
  /** Begins a branch that leaves main. */
  readonly branch: () => void;
}

/**
 * Installs the package and releases a contract. Git ignores the folder `consumer`.
 *
 * @param scratch an existing folder
 * @param tarball the path of the package
 */
export function createMonorepo({ name, install, run }: Manager, scratch: string, tarball: string): Monorepo {
  const parent = realpathSync(mkdtempSync(join(scratch, 'monorepo-')));
  const root = join(parent, 'work');

  function call([file = '', ...args]: readonly string[]): CommandResult {
    return command(file, args, root, {
      GITHUB_ACTIONS: '',
      GITHUB_BASE_REF: '',
      YARN_NPM_REGISTRY_SERVER: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim(),
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_ENABLE_TELEMETRY: 'false',
    });
  }

  function commit(files: Files): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      if (text === null) rmSync(file, { recursive: true });
      else writeFileSync(file, text);
    }
    commitAll(root);
  }

  git(parent, 'init', '--quiet', '--bare', '--initial-branch=main', 'origin.git');
  git(parent, 'clone', '--quiet', 'origin.git', 'work');
  git(root, 'checkout', '--quiet', '-B', 'main');
  const devDependencies = { '@deedwire/contract-check': `file:${tarball}`, graphql: '17' };
  commit({
    '.gitignore': 'node_modules\nconsumer\n.yarn\n.pnp*\n',
    'package.json': JSON.stringify({ name: 'shop', private: true, workspaces: ['packages/*'], devDependencies }),
    ...(name === 'pnpm' ? { 'pnpm-workspace.yaml': 'packages: [packages/*]\n' } : {}),
    ...(name === 'yarn 4' ? { 'yarn.lock': '' } : {}),
    '.changeset/config.json': '{}',
    'packages/api/package.json': manifest('0.0.0'),
  });
  const { status, stdout, stderr } = call(install);
  if (status !== 0) throw new Error(stdout + stderr);
  commit({
    'packages/api/package.json': manifest('1.0.0'),
    [contract]: sdl,
    [released]: sdl,
    'packages/api/schema.graphql': sdl,
    'packages/api/part/query.graphql': 'extend type Query {\n  part: Int\n  other: Int\n}\n',
  });
  git(root, 'push', '--quiet', 'origin', 'main');
  git(root, 'remote', 'set-head', 'origin', 'main');
  return {
    root,
    parent,
    check: (...args) => call([...run, 'contract-check', ...args]),
    commit,
    branch: () => git(root, 'checkout', '--quiet', '-B', 'topic', 'origin/main'),
  };
}

/**
 * @param tried the attacks to try
 * @param judged the verdicts to check
 */
export function describeMonorepo(
  { name, remedy }: Manager,
  of: () => Monorepo,
  tried = attacks,
  judged = verdicts,
): void {
  describe(`in a monorepo of ${name}`, () => {
    test('passes if nothing changed, and shows the last release', () => {
      const { branch, check } = of();
      branch();
      expect(check('workspace')).toMatchObject({ status: 0 });
      expect(check('release')).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^@books\/api 1\.0\.0: commit [0-9a-f]{12} \(1\.0\.0\)/m),
      });
    });

    test('a change needs a bump, which the remedy declares', () => {
      const { branch, check, commit } = of();
      branch();
      commit({ [contract]: sdl.replace('  b: Int\n', '  b: Int\n  c: Int\n') });
      const { status, stdout } = check('workspace');
      expect({ status, stdout }).toEqual({
        status: 1,
        stdout: expect.stringContaining(`    ${remedy} add --minor @books/api -m `),
      });
      expect(stdout).toContain(
        'To fix: raise "version" in packages/api/package.json to 1.1.0, or declare a minor bump',
      );
      commit({ 'packages/api/package.json': manifest('1.1.0') });
      expect(check('workspace')).toMatchObject({ status: 0 });
    });

    test('a part of a schema is compared with the main branch, and named from the root', () => {
      const { branch, check, commit } = of();
      branch();
      const pattern = 'packages/api/part/*.graphql';
      commit({ 'packages/api/part/query.graphql': 'extend type Query {\n  part: Int\n}\n' });
      const args = ['graphql', '--partial', '--from', `git:main:${pattern}`, '--to', pattern];
      expect(check(...args, '--format', 'github').stdout).toContain(
        '::warning file=packages/api/part/query.graphql,line=1,',
      );
    });

    test.each(tried)('a pull request does not pass that %s', (_, merged, changes, message) => {
      const { root, branch, check, commit } = of();
      branch();
      if (merged !== null) commit(merged);
      git(root, 'push', '--quiet', '--force', 'origin', 'topic:base');
      commit(changes);
      const { status, stdout, stderr } = check('workspace', '--base', 'origin/base');
      expect(stdout + stderr).toContain(message);
      expect(status).toBe(1);
    });

    test.each(judged)('%s', (_, changes, args, { status, text }) => {
      const { branch, check, commit } = of();
      branch();
      commit(changes);
      const result = check(...args);
      expect(result.stdout + result.stderr).toContain(text);
      expect(result.status).toBe(status);
    });

    test('a shallow clone gets the command that completes it', () => {
      const { parent, check } = of();
      const url = pathToFileURL(join(parent, 'origin.git')).href;
      git(parent, 'clone', '--quiet', '--depth=1', url, 'shallow');
      const { status, stdout, stderr } = check('workspace', '--root', join(parent, 'shallow'));
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain('git fetch --unshallow --tags');
    });
  });
}
