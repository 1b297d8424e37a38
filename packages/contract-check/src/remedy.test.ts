import { mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../test/support/folders.ts';
import { run } from './cli/run.ts';
import { checkWorkspace } from './workspace/check-workspace.ts';

let root: string;
beforeEach(() => {
  root = folderForTest();
  write('package.json', { name: 'shop', private: true, workspaces: ['packages/*'] });
  write('packages/api/package.json', { name: '@shop/api', version: '1.4.0' });
  write('packages/api/versions/1.graphql', 'type Query {\n  a: Int\n}\n');
  write('.released/package.json', { name: '@shop/api', version: '1.4.0' });
  write('.released/versions/1.graphql', 'type Query {\n  a: Int\n}\n');
});

const write = (path: string, content: object | string) => writeIn(root, path, content);

/** Adds a field, which needs a minor bump. Returns the only problem. */
async function problem(): Promise<string[]> {
  write('packages/api/versions/1.graphql', 'type Query {\n  a: Int\n  b: Int\n}\n');
  const { packages } = await checkWorkspace({ root, baselines: [join(root, '.released')] });
  expect(packages[0]?.problems.map(({ code }) => code)).toEqual(['bump-too-small']);
  return (packages[0]?.problems ?? []).flatMap(({ message, remedy }) => [message, ...remedy.split('\n')]);
}

const manifest = (): string => join(root, 'packages/api/package.json');
const tooSmall = 'the changes need a minor bump, but no bump is declared';

describe('with Changesets', () => {
  beforeEach(() => write('.changeset/config.json', {}));

  test.each([
    ['npm', 'package-lock.json', '{}', 'npx'],
    ['pnpm', 'pnpm-workspace.yaml', 'packages: [packages/*]', 'pnpm'],
    ['yarn', 'yarn.lock', '', 'yarn'],
    ['bun', 'bun.lock', '', 'bunx'],
  ])('names the command for %s', async (_, file, text, command) => {
    write(file, text);
    expect(await problem()).toEqual([
      `${tooSmall}.`,
      `raise "version" in ${manifest()} to 1.5.0, or declare a minor bump of @shop/api, with contract-check changelog --write or with:`,
      `${command} changeset add --minor @shop/api -m "Describe the change for your users"`,
    ]);
  });

  test('prefers the member packageManager to a lockfile', async () => {
    write('package-lock.json', '{}');
    write('package.json', { name: 'shop', private: true, workspaces: ['packages/*'], packageManager: 'yarn@4.9.1' });
    expect((await problem()).at(-1)).toMatch(/^yarn changeset add /);
  });

  const two = { workspaces: ['packages/*'], devDependencies: { '@changesets/cli': '^2.29.0' } };

  /** Installs Changesets 2. */
  function install2(): void {
    write('package-lock.json', '{}');
    write('package.json', two);
    mkdirSync(join(root, 'node_modules/@changesets'), { recursive: true });
    const installed = join(import.meta.dirname, '../node_modules/changesets-2');
    symlinkSync(realpathSync(installed), join(root, 'node_modules/@changesets/cli'));
  }

  test('names the dialog of a version that takes no arguments', async () => {
    install2();
    expect((await problem()).at(-1)).toBe('npx changeset');
  });

  test('counts the changeset of a private package, which Changesets 2 releases without a setting', async () => {
    install2();
    write('.changeset/a.md', changeset);
    write('packages/api/package.json', { name: '@shop/api', version: '1.4.0', private: true });
    write('packages/api/versions/1.graphql', 'type Query {\n  a: Int\n  b: Int\n}\n');
    const { packages } = await checkWorkspace({ root, baselines: [join(root, '.released')] });
    expect(packages[0]).toMatchObject({ declared: 'minor', problems: [] });
    rmSync(join(root, '.changeset/a.md'));
    expect((await problem())[1]).toContain('or declare a minor bump of @shop/api');
  });

  test('demands an installation if the repository depends on Changesets 2', async () => {
    write('package-lock.json', '{}');
    write('package.json', two);
    const { exitCode, stderr } = await run(['workspace', '--root', root, '--baseline', join(root, '.released')]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `${join(root, 'package.json')}: depends on Changesets 2, which is not installed, so the pending bumps are unknown. Install the dependencies first.\n`,
    });
  });

  const changeset = '---\n"@shop/api": minor\n---\n\nA field.\n';

  test.each([
    [
      'ignored',
      { ignore: ['@shop/*'] },
      {},
      '"ignore" in .changeset/config.json matches @shop/api, so its changesets have no effect',
      'remove @shop/api from "ignore" in .changeset/config.json',
    ],
    [
      'private',
      {},
      { private: true },
      '@shop/api is private, and "privatePackages" in .changeset/config.json does not include private packages',
      'set "privatePackages": { "version": true } in .changeset/config.json',
    ],
  ])('states that the changeset of a package has no effect: %s', async (_, config, member, reason, remedy) => {
    write('package-lock.json', '{}');
    write('.changeset/config.json', config);
    write('.changeset/a.md', changeset);
    write('packages/api/package.json', { name: '@shop/api', version: '1.4.0', ...member });
    expect(await problem()).toEqual([
      `${tooSmall}: ${reason}.`,
      `${remedy}, or raise "version" in ${manifest()} to 1.5.0.`,
    ]);
    write('.changeset/config.json', { privatePackages: { version: true } });
    const { packages } = await checkWorkspace({ root, baselines: [join(root, '.released')] });
    expect(packages[0]?.problems).toEqual([]);
  });

  test('states that a package without a version has no bump', async () => {
    write('package-lock.json', '{}');
    write('.changeset/a.md', changeset);
    write('packages/api/package.json', { name: '@shop/api' });
    expect(await problem()).toEqual([
      `${tooSmall}: @shop/api has no version, so its changesets have no effect.`,
      `add "version" to ${manifest()}.`,
    ]);
  });

  test('names the missing lockfile of npm workspaces', async () => {
    write('.changeset/a.md', changeset);
    const { exitCode, stderr } = await run(['workspace', '--root', root, '--baseline', join(root, '.released')]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: `${join(root, 'package.json')}:1: lists workspaces, but Changesets finds them only beside a lockfile. Create one, for example with npm install --package-lock-only.\n`,
    });
  });
});

describe('without Changesets', () => {
  test('names the version that declares the bump, after which the check passes', async () => {
    expect(await problem()).toEqual([
      `${tooSmall}.`,
      `raise "version" in ${manifest()} to 1.5.0, or pass --declared minor and release a minor bump of @shop/api.`,
    ]);
    write('packages/api/package.json', { name: '@shop/api', version: '1.5.0' });
    const { packages } = await checkWorkspace({ root, baselines: [join(root, '.released')] });
    expect(packages[0]?.problems).toEqual([]);
  });

  test('names the option that was too small', async () => {
    write('packages/api/versions/1.graphql', 'type Query {\n  a: Int\n  b: Int\n}\n');
    const args = ['workspace', '--root', root, '--baseline', join(root, '.released')];
    expect((await run([...args, '--declared', 'patch'])).stdout).toContain(
      'To fix: pass --declared minor, and release a minor bump of @shop/api.\n',
    );
    expect((await run([...args, '--declared', 'minor'])).exitCode).toBe(0);
  });
});
