import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { create } from 'tar';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startContractServer } from '../../test/support/contract-server.ts';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { approved, broken, contract, manifest, repositoryIn, sdl } from '../../test/support/gated-repository.ts';
import { commitFirst, commitRelease, git, merge } from '../../test/support/git.ts';
import { run } from '../cli/run.ts';
import { workspaceMembers } from './workspace-members.ts';

// What pull requests once passed with. `merged-state.test.ts` has the simpler ones.

let folder: string;
let root: string;
beforeEach(() => {
  folder = folderForTest();
  root = join(folder, 'repository');
  mkdirSync(root);
});

const { write, release, commit, check } = repositoryIn(() => root);
const brokenRelease = { codes: ['released-version-broken'], rules: ['graphql/fieldRemoved'] };
const report = { declarations: { f: { kind: 'const', signature: '1' } } };
const listing = { contracts: [{ kind: 'graphql', folder: 'packages/api', files: ['*.graphql'] }] };
const tooSmall = { codes: ['bump-too-small'] };

const schemaEntry = { kind: 'graphql', folder: 'packages/api/schema', files: ['*.graphql'] };

/** A repository that lists its contracts, so that a major bump may break them. */
function releaseListed(entry: object = {}, files: Readonly<Record<string, string>> = {}): void {
  const contracts = [{ ...schemaEntry, ...entry }];
  release({ [contract]: sdl, 'packages/api/schema/a.graphql': sdl, 'contract-check.json': { contracts }, ...files });
}

describe('one pull request', () => {
  test('adds a package with the name of the one that it breaks', async () => {
    release();
    commit({
      [contract]: broken,
      'fixtures/old/package.json': manifest('1.0.0'),
      'fixtures/old/versions/2026-01-01.graphql': sdl,
    });
    expect(await check()).toMatchObject({
      ...brokenRelease,
      notices: [
        'packages/api and fixtures/old contain packages with the name @books/api. Each is compared with its own latest release.',
      ],
    });
  });

  test('adds a package with the name of the one whose listed contracts it breaks, and a larger version', async () => {
    releaseListed({ folder: 'schema', package: '@books/api' }, { 'schema/a.graphql': sdl });
    commit({ 'schema/a.graphql': broken, 'a/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject(tooSmall);
    commit({ 'schema/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject(tooSmall);
  });

  test('moves a package, and adds another one with its name', async () => {
    release();
    mkdirSync(join(root, 'libraries'));
    renameSync(join(root, 'packages/api'), join(root, 'libraries/api'));
    commit({
      'libraries/api/versions/2026-01-01.graphql': broken,
      'fixtures/of-a-release/package.json': manifest('1.0.0'),
      'fixtures/of-a-release/versions/2026-01-01.graphql': sdl,
    });
    expect((await check()).codes).toEqual(['released-version-broken']);
  });

  test('adds a copy of a package, which the workspace publishes, and breaks it', async () => {
    release({ 'package.json': '{ "workspaces": ["packages/*"] }' });
    commit({
      'package.json': '{ "workspaces": ["packages/*", "dist/*"] }',
      'dist/api/package.json': manifest('1.0.1'),
      'dist/api/versions/2026-01-01.graphql': broken,
    });
    const { verdicts, codes } = await check();
    expect({ verdicts, codes }).toEqual({
      verdicts: [
        ['@books/api', 'none'],
        ['@books/api', 'major'],
      ],
      codes: ['released-version-broken'],
    });
  });

  test.each([
    ['beside the package', 'package.json', '{ "workspaces": ["packages/api-v2"] }', 'packages/api-v2'],
    [
      'inside the package',
      'package.json',
      '{ "workspaces": { "packages": ["packages/*", "./packages/api/pkg/"] } }',
      'packages/api/pkg',
    ],
    ['of pnpm', 'pnpm-workspace.yaml', 'packages:\n  - packages/* # all\n  - "next/**"\n', 'next/api'],
    [
      'that npm includes again',
      'package.json',
      '{ "workspaces": ["!packages/api", "!next/*", "next/api"] }',
      'next/api',
    ],
    ['in another notation', 'package.json', '{ "workspaces": ["!!.//next/a/../*"] }', 'next/api'],
    ['with a merge key', 'pnpm-workspace.yaml', 'x: &x\n  packages: ["next/*"]\n<<: *x\n', 'next/api'],
    ['of Lerna', 'lerna.json', '{ "packages": ["next/*"] }', 'next/api'],
    ['in a hidden folder', 'pnpm-workspace.yaml', 'packages:\n  - .next/*\n', '.next/api'],
  ])('cannot hide a member of the workspace: %s', (_, file, text, path) => {
    const members = workspaceMembers(new Map([[file, () => ({ file, text })]]));
    expect({
      areListed: members.areListed,
      isMember: members.includes(path),
      isOther: members.includes('other/api'),
    }).toEqual({ areListed: true, isMember: true, isOther: false });
  });

  test.each(['node_modules', 'packages/api/node_modules', 'Node_Modules'])('adds Changesets in %s', async (modules) => {
    release({ '.changeset/config.json': '{}' });
    const started = join(folder, 'started');
    const read = `require('node:fs').writeFileSync(${JSON.stringify(started)}, '');`;
    commit({
      [`${modules}/@changesets/cli/package.json`]: '{ "name": "@changesets/cli", "version": "2.29.0" }',
      [`${modules}/@changesets/cli/node_modules/@changesets/get-release-plan/index.js`]: read,
      'packages/api/.changeset/config.json': '{}',
    });
    // As on a file system that takes both names for one.
    if (modules === 'Node_Modules') symlinkSync(modules, join(root, 'node_modules'));
    await expect(check({ root: modules.startsWith('packages') ? join(root, 'packages/api') : root })).rejects.toThrow(
      `${modules.replace('packages/api/', '')}/@changesets/cli/node_modules/@changesets/get-release-plan/index.js: is in git, so a pull request could replace the installed Changesets`,
    );
    expect(existsSync(started)).toBe(false);
  });

  test('has builds in a folder of the workspace, which git ignores', async () => {
    release({ 'package.json': '{ "workspaces": ["packages/**"] }', '.gitignore': 'dist\n' });
    commit({ 'README.md': 'Books' });
    write({
      'packages/api/dist/package.json': manifest('1.0.0'),
      'packages/api/dist/versions/2026-01-01.graphql': broken,
    });
    expect(await check()).toMatchObject({ codes: [], verdicts: [['@books/api', 'none']] });
  });

  test('has its package in a folder whose name is a pathspec that excludes', async () => {
    release();
    renameSync(join(root, 'packages/api'), join(root, ':(exclude)*'));
    commit({ ':(exclude)*/versions/2026-01-01.graphql': sdl.replace('b: Int', 'b: Int\n  c: Int') });
    // In git, the name stands for all files but those named package.json.
    commit({ ':(exclude)*/package.json': manifest('1.1.0') });
    merge(root);
    commit({ ':(exclude)*/versions/2026-01-01.graphql': sdl });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['commit <id> (1.1.0)'] });
  });

  test('replaces the commit of the latest release', async () => {
    release();
    const released = git(root, 'rev-parse', 'HEAD').trim();
    git(root, 'checkout', '--quiet', '--orphan', 'other');
    const other = commit({ [contract]: broken });
    git(root, 'checkout', '--quiet', 'main');
    git(root, 'replace', '--force', released, other);
    commit({ [contract]: broken });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('adds a copy of a package that only another package manager would exclude', async () => {
    release({ 'package.json': '{ "workspaces": ["packages/*", "next/*"] }' });
    commit({
      'pnpm-workspace.yaml': 'packages: [packages/*, "!next/*"]\n',
      'next/api/package.json': manifest('1.0.1'),
      'next/api/versions/2026-01-01.graphql': broken,
    });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test.each([
    ['packages/new/package.json', '{ "name": "@books/api", "version": "1.0.1", "private": true, "private": false }'],
    ['package.json', '{ "workspaces": [], "workspaces": ["packages/*"] }'],
  ])('adds a duplicate name, which npm accepts, to %s', async (path, text) => {
    releaseListed();
    commit({ 'packages/new/package.json': manifest('1.0.1'), 'packages/new/schema/a.graphql': broken, [path]: text });
    await expect(check()).rejects.toThrow(`${path}:1: duplicate name`);
  });

  test('breaks a member of the workspace inside another package', async () => {
    release({
      'package.json': '{ "workspaces": ["packages/*", "packages/*/plugins/*", "!packages/api/plugins/b"] }',
      'packages/api/plugins/a/package.json': '{ "name": "a", "version": "1.0.0" }',
      'packages/api/plugins/a/versions/1.graphql': sdl,
      'packages/api/plugins/b/package.json': '{ "name": "b", "version": "1.0.0" }',
      'packages/api/plugins/b/versions/1.graphql': sdl,
    });
    commit({
      'packages/api/plugins/a/versions/1.graphql': broken,
      'packages/api/plugins/b/versions/1.graphql': broken,
    });
    expect(await check()).toMatchObject({
      verdicts: [
        ['@books/api', 'none'],
        ['a', 'major'],
      ],
      codes: ['released-version-broken'],
    });
  });

  test('chooses the registry of an npm baseline', async () => {
    const server = await startContractServer('type Query { a: Int }');
    vi.stubEnv('npm_config_registry', undefined);
    vi.stubEnv('npm_config_cache', join(folder, 'cache'));
    vi.stubEnv('npm_config_fetch_retries', '0');
    try {
      writeIn(folder, 'package/package.json', manifest('1.0.0'));
      writeIn(folder, 'package/schema/a.graphql', sdl);
      create({ file: join(folder, 'a.tgz'), gzip: true, sync: true, cwd: folder }, ['package']);
      server.publish('@books/api', '1.0.0', join(folder, 'a.tgz'));
      const baseline = { folder: 'packages/api', files: ['schema/*.graphql'], baseline: 'npm:@books/api@latest' };
      releaseListed(baseline, { '.npmrc': `registry=${server.origin}\n` });
      commit({ '.npmrc': 'registry=http://127.0.0.1:1/\n', 'packages/api/schema/a.graphql': broken });
      expect(await check()).toMatchObject(tooSmall);
    } finally {
      vi.unstubAllEnvs();
      server.close();
    }
  });

  test('writes the folder that is the baseline, outside of the root', async () => {
    const outer = root;
    root = join(outer, 'backend');
    const entry = { kind: 'graphql', folder: 'packages/api', files: ['schema/*.graphql'], baseline: '../published' };
    write({
      'packages/api/package.json': manifest('1.0.0'),
      'packages/api/schema/a.graphql': sdl,
      'contract-check.json': { contracts: [entry] },
      '../published/schema/a.graphql': sdl,
    });
    commitRelease(outer);
    write({ 'packages/api/schema/a.graphql': broken, '../published/schema/a.graphql': broken });
    expect(await check()).toMatchObject({ ...tooSmall, rules: ['graphql/fieldRemoved'] });
  });

  test.each([['published'], ['link']])('adds the folder that is the baseline: %s', async (baseline) => {
    releaseListed({ folder: 'packages/api', files: ['schema/*.graphql'], baseline });
    write({ 'packages/api/schema/a.graphql': broken, 'published/schema/a.graphql': broken });
    symlinkSync('published', join(root, 'link'));
    commit();
    await expect(check()).rejects.toThrow(`/contracts/0/baseline is ${baseline}, which changes can replace`);
    // A build or a download that git does not track is no change.
    git(root, 'reset', '--quiet', '--hard', 'HEAD~1');
    write({ 'packages/api/schema/a.graphql': broken, [`${baseline}/schema/a.graphql`]: sdl });
    expect(await check()).toMatchObject(tooSmall);
  });

  test('begins where an override or an exception applied that is withdrawn since', async () => {
    release();
    const rule = 'graphql/fieldRemoved';
    const exception = { file: 'versions/2026-01-01.graphql', rule, coordinate: 'Query.b' };
    const override = { rule, verdict: 'none', reason: 'A test.' };
    for (const files of [
      { 'contract-check.json': { overrides: [override] } },
      { 'contract-exceptions.json': approved(exception) },
    ]) {
      commit(files);
      git(root, 'checkout', '--quiet', '-B', 'topic');
      git(root, 'checkout', '--quiet', 'main');
      merge(root);
      git(root, 'checkout', '--quiet', 'topic');
      commit({ [contract]: broken });
      expect((await check()).codes).not.toContain('released-version-broken');
      git(root, 'checkout', '--quiet', 'main');
      commit(Object.fromEntries(Object.keys(files).map((path) => [path, null])));
      merge(root);
      git(root, 'checkout', '--quiet', 'topic');
      expect((await check()).codes).toContain('released-version-broken');
      git(root, 'checkout', '--quiet', 'main');
    }
  });

  test('comes from a branch with the name of the place that is the baseline', async () => {
    releaseListed({ baseline: 'git:origin/main' });
    git(root, 'checkout', '--quiet', '-b', 'origin/main');
    commit({ 'packages/api/schema/a.graphql': broken });
    expect(await check()).toMatchObject(tooSmall);
  });

  test('raises the version by less than its changeset declares', async () => {
    releaseListed(
      {},
      {
        '.changeset/config.json': '{}',
        'package.json': '{ "name": "books", "private": true, "workspaces": ["packages/*"] }',
        'package-lock.json': '{}',
      },
    );
    commit({ 'packages/api/schema/a.graphql': broken, '.changeset/a.md': '---\n"@books/api": major\n---\n' });
    expect(await check()).toMatchObject({ codes: [] });
    commit({ 'packages/api/package.json': manifest('1.0.1') });
    expect(await check()).toMatchObject(tooSmall);
    const { stdout } = await run(['workspace', '--root', root]);
    expect(stdout).toContain(
      'the changes need a major bump since 1.0.0, but "version" is 1.0.1, which releases them before pending changesets apply.',
    );
    expect(stdout).toContain('to 2.0.0, or restore "version", and raise it in a release.');
  });

  test('raises the version to "v1.0.1", which npm publishes as 1.0.1', async () => {
    releaseListed();
    commit({ 'packages/api/schema/a.graphql': broken, 'packages/api/package.json': manifest('v1.0.1') });
    expect(await check({ declared: 'major' })).toMatchObject(tooSmall);
  });

  test('raises the version to one that is none', async () => {
    releaseListed();
    commit({ 'packages/api/schema/a.graphql': broken, 'packages/api/package.json': manifest('1.1') });
    await expect(check({ declared: 'major' })).rejects.toThrow(
      'packages/api/package.json: "version" is "1.1", so nothing shows which bump it makes. Write three numbers',
    );
  });

  test('raises the version of a package around the folder of a baseline', async () => {
    releaseListed({ baseline: 'git:first' });
    git(root, 'tag', 'first');
    commit({ 'packages/api/package.json': manifest('0.9.0') });
    merge(root);
    commit({ 'packages/api/schema/a.graphql': broken, 'packages/api/package.json': manifest('1.0.1') });
    expect(await check({ declared: 'major' })).toMatchObject(tooSmall);
    commit({ 'packages/api/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject({ codes: [] });
  });

  test('moves a package to where an override applies', async () => {
    const override = { rule: 'graphql/fieldRemoved', files: ['internal/**'], verdict: 'none', reason: 'A test.' };
    release({ 'contract-check.json': { overrides: [override] } });
    mkdirSync(join(root, 'internal'));
    renameSync(join(root, 'packages/api'), join(root, 'internal/api'));
    commit();
    merge(root);
    // Not in a second pull request either.
    commit({ 'internal/api/versions/2026-01-01.graphql': broken });
    expect(await check()).toMatchObject(brokenRelease);
  });
});

describe('two pull requests', () => {
  test('make an API report a preview, then break it', async () => {
    release({ 'packages/api/api/index.api.json': report });
    commit({ 'packages/api/versions.json': '{ "index": { "status": "preview" } }' });
    expect(await check()).toMatchObject({ codes: ['released-version-broken'], rules: ['version/versionWithdrawn'] });
  });

  test.each([
    ['to a package inside its package', { 'packages/api/schema/package.json': '{ "name": "x", "version": "0.0.1" }' }],
    ['to another package by its entry', { 'contract-check.json': { contracts: [{ ...schemaEntry, package: 'x' }] } }],
  ])('give a listed contract %s, then break it', async (_, files) => {
    releaseListed();
    commit(files);
    expect(await check()).toMatchObject({ ...tooSmall, rules: ['version/contractRemoved'] });
  });

  test.each([
    ['raise the version and lower it again', manifest('1.0.1')],
    ['remove the package and add it again', null],
  ])('%s with a break between', async (_, changed) => {
    release();
    // One pull request, merged commit by commit.
    commit({ 'packages/api/package.json': changed });
    commit({ 'packages/api/package.json': manifest('1.0.0'), [contract]: broken });
    commit({ [contract]: sdl });
    merge(root);
    commit({ [contract]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['commit <id> (1.0.0)'] });
  });

  test('break in a major, then lower the version to a patch', async () => {
    releaseListed();
    commit({ 'packages/api/schema/a.graphql': broken, 'packages/api/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject({ codes: [] });
    merge(root);
    commit({ 'packages/api/package.json': manifest('1.0.1') });
    expect(await check()).toMatchObject({ ...tooSmall, baselines: ['commit <id> (2.0.0), commit <id> (1.0.0)'] });
  });

  test.each([
    ['in the documented folders', { 'packages/api/api/index.api.json': report }],
    ['in the configuration', { 'packages/api/a.graphql': sdl, 'contract-check.json': listing }],
  ])('remove the only contract %s in a major, then take the major back', async (_, files) => {
    const workspace = '{ "name": "books", "private": true, "workspaces": ["packages/*"] }';
    write({ 'packages/api/package.json': manifest('1.0.0'), 'package.json': workspace, 'package-lock.json': '{}' });
    write({ ...files, '.changeset/config.json': '{}' });
    commitRelease(root);
    const removed = Object.fromEntries(Object.keys(files).map((path) => [path, null]));
    commit({ ...removed, '.changeset/a.md': '---\n"@books/api": major\n---\n' });
    expect(await check()).toMatchObject({ codes: [], rules: ['version/contractRemoved'] });
    merge(root);
    commit({ '.changeset/a.md': null });
    expect(await check()).toMatchObject({ ...tooSmall, rules: ['version/contractRemoved'] });
    git(root, 'reset', '--quiet', '--hard', 'HEAD~1');
    // Nor in another folder.
    renameSync(join(root, 'packages/api'), join(root, 'packages/moved'));
    commit();
    merge(root);
    commit({ '.changeset/a.md': null });
    expect(await check()).toMatchObject({ ...tooSmall, rules: ['version/contractRemoved'] });
    commit({ 'packages/moved/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject({ codes: [], rules: ['version/contractRemoved'] });
    merge(root);
    commit({ 'README.md': 'Books' });
    expect(await check()).toMatchObject({ verdicts: [], notices: [expect.stringContaining('Nothing is compared')] });
  });

  test('lower the version, then raise it by a major from there', async () => {
    releaseListed();
    commit({ 'packages/api/package.json': manifest('0.0.1') });
    merge(root);
    commit({ 'packages/api/schema/a.graphql': broken, 'packages/api/package.json': manifest('1.0.1') });
    expect(await check()).toMatchObject(tooSmall);
    commit({ 'packages/api/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject({ codes: [] });
  });

  test('replace a contract by a symbolic link, then break what it leads to', async () => {
    release();
    renameSync(join(root, contract), join(root, 'packages/api/schema.graphql'));
    symlinkSync('../schema.graphql', join(root, contract));
    commit({ 'packages/api/package.json': manifest('1.0.1') });
    expect(await check()).toMatchObject({ codes: [] });
    merge(root);
    commit({ 'packages/api/schema.graphql': broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['commit <id> (1.0.1)'] });
  });

  test.each([contract, 'packages/api/package.json'])('replace %s by a link to what git does not have', async (path) => {
    release({ '.gitignore': 'generated\n' });
    mkdirSync(join(root, 'generated'));
    renameSync(join(root, path), join(root, 'generated/file'));
    symlinkSync(join(root, 'generated/file'), join(root, path));
    commit();
    await expect(check()).rejects.toThrow('is a symbolic link to something that is not in the repository');
  });

  test.each(['working-tree-encoding=UTF-7', 'filter=storage'])(
    'give a contract the attribute %s',
    async (attribute) => {
      release();
      commit({ '.gitattributes': `*.graphql ${attribute}\n` });
      await expect(check()).rejects.toThrow('has another content in the repository than in the working tree.');
    },
  );

  test.each([
    ['a contract', contract, `${contract}\n`],
    ['a contract that git does not ignore', contract, ''],
    ['the package.json', 'packages/api/package.json', '/packages/api/package.json\n'],
  ])('let a build make %s instead of git', async (_, path, ignored) => {
    release();
    commit({ '.gitignore': ignored, [path]: null });
    write({ [path]: path === contract ? sdl : manifest('1.0.0') });
    await expect(check()).rejects.toThrow(`${path}: is not in the git repository`);
  });

  test('let a build make a file to which a contract refers', async () => {
    const schema = { properties: { a: { $ref: '../../generated/a.json' } } };
    release({
      'packages/api/json-schema/event/1.json': schema,
      'packages/api/generated/a.json': '{ "$ref": "b.json" }',
      'packages/api/generated/b.json': '{}',
    });
    expect(await check()).toMatchObject({ codes: [] });
    commit({ '.gitignore': 'b.json\n', 'packages/api/generated/b.json': null });
    write({ 'packages/api/generated/b.json': '{}' });
    await expect(check()).rejects.toThrow('packages/api/generated/b.json: is not in the git repository');
  });

  test('let a link to a build be a file to which a contract refers', async () => {
    const schema = { properties: { a: { $ref: '../../a.json' } } };
    release({ '.gitignore': 'generated\n', 'packages/api/generated/a.json': '{}' });
    symlinkSync('generated/a.json', join(root, 'packages/api/a.json'));
    commit({ 'packages/api/json-schema/event/1.json': schema });
    await expect(check()).rejects.toThrow('packages/api/a.json: is not in the git repository');
  });

  test('move a package to a submodule, then break it', async () => {
    release();
    const module = join(root, 'packages/api');
    commitFirst(module);
    git(root, 'rm', '-r', '--cached', '--quiet', 'packages/api');
    commit();
    await expect(check()).rejects.toThrow(`${contract}: is not in the git repository`);
    // Nor does it pass once it is merged.
    merge(root);
    await expect(check()).rejects.toThrow(`${contract}: is not in the git repository`);
  });

  test('remove the version, then break the contract in a patch', async () => {
    releaseListed();
    commit({ 'packages/api/package.json': '{ "name": "@books/api" }' });
    merge(root);
    commit({ 'packages/api/package.json': manifest('1.0.1'), 'packages/api/schema/a.graphql': broken });
    expect(await check({ declared: 'major' })).toMatchObject(tooSmall);
  });

  test('change released/, then break the contract, while the version is that of the first commit', async () => {
    const copy = 'packages/api/released/versions/2026-01-01.graphql';
    write({ 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl, [copy]: sdl });
    commitFirst(root);
    merge(root);
    commit({ [copy]: broken });
    await expect(check()).rejects.toThrow('packages/api/released: differs from what is merged');
    commit({ 'packages/api/package.json': manifest('1.0.1') });
    expect(await check()).toMatchObject({ codes: [] });
    merge(root);
    write({ [contract]: broken });
    expect((await check()).codes).toEqual(['released-version-broken']);
  });

  test.each(['packages/other', 'packages/api'])('make package.json of %s invalid', async (path) => {
    release({ 'packages/other/package.json': '{ "name": "other" }' });
    commit({ [`${path}/package.json`]: '{' });
    merge(root);
    commit({ [`${path}/package.json`]: manifest('1.0.0'), 'packages/other': null, [contract]: broken });
    if (path === 'packages/other') write({ 'packages/api/package.json': manifest('1.0.0') });
    expect(await check()).toMatchObject({
      ...brokenRelease,
      notices: [expect.stringContaining('The merged state does not apply, but the last valid one:')],
    });
  });
});

describe('the root', () => {
  const codes = { name: 'books', version: '1.0.0', contractCheck: { appendOnly: ['codes.json'] } };
  const brokenCodes = { codes: ['released-version-broken'], rules: ['append-only/entryRemoved'] };

  test('is compared if it has nothing but an append-only file, alone and beside packages', async () => {
    write({ 'package.json': codes, 'codes.json': '["A", "B"]' });
    commitRelease(root);
    write({ 'codes.json': '["A"]' });
    expect(await check()).toMatchObject({ ...brokenCodes, verdicts: [['books', 'major']] });
    write({
      'package.json': { ...codes, workspaces: ['packages/*'] },
      'packages/api/package.json': manifest('1.0.0'),
      [contract]: sdl,
    });
    expect(await check()).toMatchObject({
      ...brokenCodes,
      verdicts: [
        ['@books/api', 'none'],
        ['books', 'major'],
      ],
    });
  });

  test.each([
    ['package.json', '{ "name": "books", "private": true, "workspaces": ["packages/*"] }'],
    ['pnpm-workspace.yaml', 'packages: [packages/*]'],
  ])('with workspaces in %s hides no package once it has a contract', async (file, text) => {
    release({ 'package.json': '{ "name": "books", "private": true }', [file]: text });
    commit({ 'json-schema/settings/1.json': '{}' });
    expect(await check()).toMatchObject({
      codes: [],
      verdicts: [
        ['@books/api', 'none'],
        ['books', 'none'],
      ],
    });
    commit({ [contract]: broken });
    expect((await check()).codes).toEqual(['released-version-broken']);
  });

  test('without workspaces hides its fixtures', async () => {
    write({ 'package.json': manifest('1.0.0'), 'versions/1.graphql': sdl });
    commitRelease(root);
    write({ 'fixtures/a/package.json': '{ "name": "a" }', 'fixtures/a/versions/1.graphql': sdl });
    expect(await check()).toMatchObject({ codes: [], verdicts: [['@books/api', 'none']] });
  });
});

describe('a pull request gets a verdict', () => {
  test('after an approved removal of the only package, but not in a workspace that never had a contract', async () => {
    release({ 'package.json': '{ "name": "books", "private": true }' });
    const removal = { file: 'package.json', rule: 'version/packageRemoved', coordinate: '@books/api' };
    commit({ 'contract-exceptions.json': approved(removal) });
    merge(root);
    commit({ 'packages/api': null });
    expect(await check()).toMatchObject({ codes: [], rules: ['version/packageRemoved'] });
    merge(root);
    commit({ 'contract-exceptions.json': null });
    const { exitCode, stdout } = await run(['workspace', '--root', root]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/Nothing is compared: .*\n\nPassed: there is no contract to compare\.\n$/s),
    });
    git(root, 'clone', '--quiet', '--depth=1', pathToFileURL(root).href, '../shallow');
    expect((await run(['workspace', '--root', join(folder, 'shallow')])).stderr).toContain('because it is shallow');
    const orphan = git(root, 'commit-tree', '-m', 'Begin', git(root, 'rev-parse', 'HEAD^{tree}').trim());
    git(root, 'reset', '--quiet', '--hard', orphan.trim());
    merge(root);
    await expect(check()).rejects.toThrow('found no package that contains');
  });

  test('with an invalid package.json in a test fixture', async () => {
    release();
    commit({ 'packages/api/test/broken/package.json': '{', 'fixtures/broken/package.json': '{' });
    expect(await check()).toMatchObject({ codes: [], notices: [] });
    merge(root);
    commit({ [contract]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, notices: [] });
  });

  test('after a configuration listed folders outside of the repository', async () => {
    release();
    for (const outside of ['/etc', '../../..']) {
      const contracts = [{ kind: 'graphql', folder: outside, files: ['*.graphql'] }];
      commit({ 'contract-check.json': { contracts } });
    }
    commit({ 'contract-check.json': null });
    merge(root);
    expect(await check()).toMatchObject({ codes: [], verdicts: [['@books/api', 'none']] });
  });

  test('with a contract that is explicitly no file of Git LFS', async () => {
    release();
    commit({ '.gitattributes': '* filter=lfs\n*.graphql -filter -working-tree-encoding\n*.json !filter\n' });
    expect(await check()).toMatchObject({ codes: [] });
  });

  test('with a $ref to a file outside of the root', async () => {
    const outer = root;
    root = join(outer, 'backend');
    const schema = { properties: { a: { $ref: '../../../../../shared/a.json' } } };
    write({
      'packages/api/package.json': manifest('1.0.0'),
      'packages/api/json-schema/event/1.json': schema,
      '../shared/a.json': '{ "type": "string" }',
    });
    commitRelease(outer);
    expect(await check()).toMatchObject({ codes: [] });
    write({ '../shared/a.json': '{ "type": "number" }' });
    expect((await check()).codes).toContain('released-version-broken');
  });

  test('when it reverts a release that only raised the version', async () => {
    releaseListed();
    commit({ 'packages/api/package.json': manifest('1.1.0') });
    merge(root);
    git(root, 'revert', '--no-edit', 'HEAD');
    expect(await check()).toMatchObject({ codes: [] });
  });

  test('when a fixture has the name and the version of a package', async () => {
    release();
    commit({ 'fixtures/api/package.json': manifest('1.0.0'), 'fixtures/api/versions/2026-01-01.graphql': broken });
    merge(root);
    commit({ 'README.md': 'Books' });
    expect(await check()).toMatchObject({ codes: [] });
    // Nor can the fixture take the place of the package.
    write({ 'packages/api': null });
    expect(await check()).toMatchObject(brokenRelease);
  });
});
