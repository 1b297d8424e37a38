import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Files, writeAllIn } from './folders.ts';
import { broken, contract, manifest, sdl } from './gated-repository.ts';
import { commitAll, git, initRepository, merge } from './git.ts';
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

/** A repository in which a package manager has installed the packed package. */
export interface Monorepo {
  readonly root: string;
  readonly check: (...args: string[]) => CommandResult;
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
  const root = realpathSync(mkdtempSync(join(scratch, 'monorepo-')));
  const registry = name.startsWith('yarn')
    ? execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
    : '';

  function call([file = '', ...args]: readonly string[]): CommandResult {
    return command(file, args, root, {
      GITHUB_ACTIONS: '',
      GITHUB_BASE_REF: '',
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_ENABLE_TELEMETRY: 'false',
    });
  }

  function commit(files: Files): void {
    writeAllIn(root, files);
    commitAll(root);
  }

  initRepository(root);
  const devDependencies = { '@deedwire/contract-check': `file:${tarball}`, graphql: '17' };
  commit({
    '.gitignore': 'node_modules\nconsumer\n.yarn\n.pnp*\n',
    'package.json': { name: 'shop', private: true, workspaces: ['packages/*'], devDependencies },
    ...(name === 'pnpm' ? { 'pnpm-workspace.yaml': 'packages: [packages/*]\n' } : {}),
    ...(name === 'yarn 4' ? { 'yarn.lock': '' } : {}),
    '.changeset/config.json': '{}',
    'packages/api/package.json': manifest('0.0.0'),
  });
  const { status, stdout, stderr } = call(install);
  if (status !== 0) throw new Error(stdout + stderr);
  commit({ 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl });
  merge(root);
  return {
    root,
    check: (...args) => call([...run, 'contract-check', ...args]),
    commit,
    branch: () => git(root, 'checkout', '--quiet', '-B', 'topic', 'origin/main'),
  };
}

export function describeMonorepo({ name, remedy }: Manager, of: () => Monorepo): void {
  describe(`in a monorepo of ${name}`, () => {
    test('passes if nothing changed, and shows the latest release', () => {
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

    test('a pull request does not pass that breaks a released version', () => {
      const { branch, check, commit } = of();
      branch();
      commit({ [contract]: broken });
      const { status, stdout } = check('workspace');
      expect({ status, stdout }).toEqual({
        status: 1,
        stdout: expect.stringContaining('versions/2026-01-01.graphql breaks a released version'),
      });
    });
  });
}
