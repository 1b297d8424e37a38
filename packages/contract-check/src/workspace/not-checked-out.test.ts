import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { commitAll, commitFirst, git, merge } from '../../test/support/git.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';
import { run } from '../cli/run.ts';

const sdl = 'type Query {\n  a: Int\n}\n';
const event = '{ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "shared/text.json" }';

let root: string;
beforeEach(() => {
  root = folderForTest();
  write('package.json', '{ "name": "shop", "private": true, "workspaces": ["packages/*"] }');
  for (const name of ['a', 'b', 'c']) {
    write(`packages/${name}/package.json`, `{ "name": "@shop/${name}", "version": "1.0.0" }`);
    write(`packages/${name}/versions/1.graphql`, sdl);
  }
  write('packages/c/json-schema/event.json', event);
  write('packages/c/json-schema/shared/text.json', '{ "type": "string" }');
  commitFirst(root);
  merge(root);
  write('packages/a/versions/1.graphql', sdl.replace('a: Int', 'a: Int\n  b: Int'));
});

const write = (path: string, text: string) => writeIn(root, path, text);

/** The verdict of each package, or the error. */
async function verdicts(): Promise<unknown> {
  const { stdout, stderr } = await run(['workspace', '--root', root, '--declared', 'minor', '--format', 'json']);
  const { packages }: { packages: { name: string; verdict: string }[] } = JSON.parse(stdout || '{ "packages": [] }');
  return stderr || Object.fromEntries(packages.map(({ name, verdict }) => [name, verdict]));
}

const entry = (name: string): object => ({
  kind: 'graphql',
  folder: `packages/${name}`,
  files: ['versions/*.graphql'],
});

const shapes = [
  ['the folder of a package', ['packages/a']],
  ['the folder of a package, and the contracts of another', ['packages/a', 'packages/b/versions']],
  ['each package.json', ['--no-cone', '/package.json', '/packages/*/package.json', '/packages/a']],
  ['the files at the top', ['--no-cone', '/package.json']],
] as const;

test.each(shapes)('a sparse checkout removes no contract: only %s', async (_, patterns) => {
  commitAll(root);
  git(root, 'sparse-checkout', 'set', ...patterns);
  expect(await verdicts()).toEqual({ '@shop/a': 'minor', '@shop/b': 'none', '@shop/c': 'none' });
  const { stdout } = await run(['find', '--root', root]);
  expect(stdout).toContain('@shop/a: 1 contract\n  @shop/b: 1 contract\n  @shop/c: 3 contracts\n');
});

test('a sparse checkout keeps the contracts that a configuration lists, and those that find proposes', async () => {
  write('packages/b/schema.graphql', sdl);
  write('packages/a/schema.graphql', sdl);
  commitAll(root);
  git(root, 'sparse-checkout', 'set', 'packages/a');
  expect((await run(['find', '--root', root])).stdout).toContain('packages/b/schema.graphql');
  write('contract-check.json', JSON.stringify({ contracts: ['a', 'b', 'c'].map(entry) }));
  commitAll(root);
  merge(root);
  expect(await verdicts()).toEqual({ '@shop/a': 'minor', '@shop/b': 'none', '@shop/c': 'none' });
});

test('a removal in the commit counts in a sparse checkout', async () => {
  git(root, 'rm', '-r', '--quiet', 'packages/b');
  commitAll(root);
  git(root, 'sparse-checkout', 'set', 'packages/a');
  expect(await verdicts()).toEqual({ '@shop/a': 'minor', '@shop/b': 'major', '@shop/c': 'none' });
});

test('the comparison with a file that a sparse checkout leaves out is an error', async () => {
  commitAll(root);
  git(root, 'sparse-checkout', 'set', 'packages/a');
  const path = 'packages/b/versions/1.graphql';
  expect(await runInFolder(root, ['graphql', '--from', 'git:HEAD', '--to', path])).toBe(
    `${path}: is not checked out, because the checkout is sparse. Run git sparse-checkout add packages/b/versions\n`,
  );
});

const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n';

test('a pointer of Git LFS is no contract', async () => {
  write('packages/b/versions/1.graphql', pointer);
  expect(await verdicts()).toContain('packages/b/versions/1.graphql: is a pointer of Git LFS, not the file itself.');
});

test('nor is a new one that a configuration lists', async () => {
  write(
    'contract-check.json',
    JSON.stringify({ contracts: [{ ...entry('b'), files: ['*.graphql'], baseline: 'git:HEAD~1' }] }),
  );
  write('packages/b/schema.graphql', sdl);
  commitAll(root);
  merge(root);
  write('packages/b/new.graphql', pointer);
  commitAll(root);
  expect(await verdicts()).toContain('packages/b/new.graphql: is a pointer of Git LFS, not the file itself.');
});

test('export-ignore hides no contract', async () => {
  write('.gitattributes', 'packages/b/** export-ignore\n');
  commitAll(root);
  merge(root);
  write('packages/b/versions/1.graphql', 'type Query {\n  b: Int\n}\n');
  expect(await verdicts()).toMatchObject({ '@shop/b': 'major' });
});

test('a submodule that is not checked out removes no package', async () => {
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  git(root, 'update-index', '--add', '--cacheinfo', `160000,${commit},packages/d`);
  mkdirSync(join(root, 'packages/d'));
  git(root, 'commit', '--quiet', '--message', 'A submodule');
  merge(root);
  expect(await verdicts()).toEqual({ '@shop/a': 'minor', '@shop/b': 'none', '@shop/c': 'none' });
});
