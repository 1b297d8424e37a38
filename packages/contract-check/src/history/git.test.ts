import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { broken, sdl } from '../../test/support/gated-repository.ts';
import { commitAll, git, headOf, initRepository, merge } from '../../test/support/git.ts';
import { packageFolder } from '../../test/support/packed-package.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';

const path = 'packages/api/versions/2026-01-01.graphql';
const compared = ['graphql', '--from', 'git:main', '--to', 'versions/2026-01-01.graphql', '--declared', 'minor'];
const found = 'Failed: the changes need a major bump, but only a minor bump is declared.';

let scratch: string;
let root: string;
let folder: string;
/** The branch main has a contract, which the working tree breaks. */
beforeEach(() => {
  scratch = folderForTest();
  root = join(scratch, 'repository');
  folder = join(root, 'packages/api');
  mkdirSync(root);
  initRepository(root);
  writeIn(root, path, sdl);
  writeIn(root, 'packages/api/package.json', { name: '@books/api', version: '1.0.0' });
  commitAll(root);
  merge(root);
  writeIn(root, path, broken);
});

/** A script that runs the command in the package, in the environment that git gives it, and writes its exit code to `exit-code`. */
function script(...args: readonly string[]): string {
  const words = [process.execPath, '--conditions=deedwire-source', join(packageFolder, 'src/bin.ts'), ...args];
  const line = words.map((word) => (word.startsWith('$') ? word : `'${word}'`)).join(' ');
  const file = writeIn(scratch, 'check.sh', `#!/bin/sh\n${line}\necho $? > '${scratch}/exit-code'\n`);
  chmodSync(file, 0o755);
  return file;
}

const exitCode = (): string => readFileSync(join(scratch, 'exit-code'), 'utf8').trim();

const isStarted = (): boolean => existsSync(join(scratch, 'started'));

/** A bare repository whose branch main lacks the field already, and whose settings run a command. */
function plant(at: string): void {
  const evil = join(scratch, 'evil');
  mkdirSync(evil);
  initRepository(evil);
  writeIn(evil, path, broken);
  writeIn(evil, 'versions/2026-01-01.graphql', broken);
  commitAll(evil);
  merge(evil);
  for (const name of ['HEAD', 'objects', 'refs']) cpSync(join(evil, '.git', name), join(at, name), { recursive: true });
  const run = `"touch ${scratch}/started; false"`;
  writeIn(at, 'config', `[core]\nbare = false\nworktree = .\nfsmonitor = ${run}\n[filter "x"]\nprocess = ${run}\n`);
  writeIn(at, '.gitattributes', '* filter=x\n');
}

/** Removes an object of the commit. */
function lose(name: string): string {
  const id = git(root, 'rev-parse', name).trim();
  rmSync(join(root, '.git/objects', id.slice(0, 2), id.slice(2)));
  return id;
}

describe('in a linked worktree', () => {
  let linked: string;
  let check: string;
  beforeEach(() => {
    linked = join(scratch, 'linked');
    git(root, 'stash', '--quiet');
    git(root, 'worktree', 'add', '--quiet', '-b', 'topic', linked);
    writeIn(linked, path, broken);
    check = `cd packages/api && ${script(...compared)}`;
  });
  const hook = (name: string): void =>
    chmodSync(writeIn(root, `.git/hooks/${name}`, `#!/bin/sh\n${check} >&2\n`), 0o755);
  const commit = (): string => git(linked, 'commit', '--quiet', '--all', '--message', 'Break');

  test.each([
    ['the hook pre-commit', 'pre-commit', () => commit()],
    ['the hook post-checkout', 'post-checkout', () => git(linked, 'checkout', '--quiet', '-b', 'other')],
    ['an alias', null, () => git(linked, '-c', `alias.check=!${check}`, 'check')],
    [
      'rebase --exec',
      null,
      () => {
        commit();
        git(linked, 'rebase', '--quiet', '--exec', check, 'main');
      },
    ],
    [
      'bisect run',
      null,
      () => {
        commit();
        git(linked, 'commit', '--quiet', '--allow-empty', '--message', 'Other');
        git(linked, 'bisect', 'start', 'topic', 'main');
        git(linked, 'bisect', 'run', 'sh', '-c', check);
      },
    ],
  ])('%s finds a breaking change', (_, name, act) => {
    if (name !== null) hook(name);
    act();
    expect(exitCode()).toBe('1');
  });

  test('its GIT_DIR says nothing about files elsewhere', async () => {
    const copy = join(scratch, 'copy');
    cpSync(join(linked, 'packages'), join(copy, 'packages'), { recursive: true });
    const GIT_DIR = git(linked, 'rev-parse', '--absolute-git-dir').trim();
    const inCopy = (variables: object) => runInFolder(join(copy, 'packages/api'), compared, { GIT_DIR, ...variables });
    expect(await inCopy({})).toBe(
      `.: is not in the working tree of the repository that GIT_DIR names, ${GIT_DIR}. Set GIT_WORK_TREE to the folder that has its files.\n`,
    );
    expect(await inCopy({ GIT_WORK_TREE: copy })).toContain(found);
    expect(await inCopy({ GIT_WORK_TREE: linked })).toBe(`.: is not in GIT_WORK_TREE, which is ${linked}\n`);
  });
});

describe('what the environment says of another repository has no effect', () => {
  let other: string;
  beforeEach(() => {
    other = join(scratch, 'other');
    mkdirSync(other);
    initRepository(other);
    writeIn(other, path, broken);
    commitAll(other);
  });

  test.each([
    ['GIT_DIR', () => ({ GIT_DIR: join(other, '.git') })],
    ['GIT_COMMON_DIR', () => ({ GIT_DIR: join(root, '.git'), GIT_COMMON_DIR: join(other, '.git') })],
    ['GIT_WORK_TREE', () => ({ GIT_DIR: join(root, '.git'), GIT_WORK_TREE: other })],
    ['GIT_CEILING_DIRECTORIES', () => ({ GIT_CEILING_DIRECTORIES: join(root, 'packages') })],
  ])('%s', async (_, variables) => {
    for (const at of [folder, root]) {
      const from = at === root ? ['graphql', '--from', 'git:main', '--to', path, '--declared', 'minor'] : compared;
      expect(await runInFolder(at, from, variables())).toContain(found);
    }
    expect(await runInFolder(root, ['workspace'], variables())).toContain('breaks a released version');
  });

  test('GIT_DIR of the superproject of a submodule', async () => {
    git(other, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'vendor/books');
    const inSubmodule = join(other, 'vendor/books/packages/api');
    writeIn(inSubmodule, 'versions/2026-01-01.graphql', broken);
    expect(await runInFolder(inSubmodule, compared, { GIT_DIR: join(other, '.git') })).toContain(found);
  });
});

describe('a repository that the pull request contains', () => {
  test.each([
    ['in the folder', () => plant(folder)],
    ['above the folder', () => plant(join(root, 'packages'))],
    [
      'with a detached HEAD',
      () => {
        plant(folder);
        writeIn(folder, 'HEAD', headOf(join(scratch, 'evil')));
      },
    ],
    [
      'with a common directory',
      () => {
        plant(join(root, 'packages/evil'));
        writeIn(folder, 'HEAD', 'ref: refs/heads/main\n');
        writeIn(folder, 'commondir', '../evil\n');
      },
    ],
    [
      'with packed objects and refs',
      () => {
        plant(folder);
        const evil = join(scratch, 'evil');
        git(evil, 'gc', '--quiet');
        for (const name of ['objects', 'refs']) rmSync(join(folder, name), { recursive: true });
        mkdirSync(join(folder, 'refs'));
        for (const name of ['objects', 'packed-refs'])
          cpSync(join(evil, '.git', name), join(folder, name), { recursive: true });
      },
    ],
  ])('has no effect: %s', async (_, planted) => {
    planted();
    expect(await runInFolder(folder, compared)).toContain(found);
    const added = [...compared.slice(0, 4), 'added.graphql'];
    writeIn(folder, 'added.graphql', sdl);
    expect(await runInFolder(folder, added)).toContain('added.graphql was added.');
    expect(await runInFolder(folder, ['workspace'])).toContain('breaks a released version');
    expect(await runInFolder(folder, ['find'])).toContain('@books/api: 1 contract');
    expect(isStarted()).toBe(false);
  });

  test('is none for a folder outside of a repository', async () => {
    rmSync(join(root, '.git'), { recursive: true });
    plant(folder);
    expect(await runInFolder(folder, compared)).toBe('git:main: . is not in a git repository\n');
  });

  test('programs of the working tree that the settings of the user name do not run', async () => {
    const program = writeIn(root, 'hooks/post-index-change', `#!/bin/sh\ntouch '${scratch}/started'\ncat\n`);
    chmodSync(program, 0o755);
    writeIn(root, '.gitattributes', '*.graphql filter=x diff=x\n');
    writeIn(folder, 'added.graphql', sdl);
    git(root, 'add', '--all');
    for (const name of ['core.fsmonitor', 'diff.external', 'diff.x.textconv', 'filter.x.clean', 'filter.x.process'])
      git(root, 'config', name, program);
    git(root, 'config', 'core.hooksPath', join(root, 'hooks'));
    writeIn(folder, 'added.graphql', `${sdl}\n`);
    const added = [...compared.slice(0, 4), 'added.graphql'];
    for (const args of [compared, added, ['workspace'], ['find']]) await runInFolder(folder, args);
    expect(isStarted()).toBe(false);
  });
});

describe('a hook of a server', () => {
  let server: string;
  let hook: string;
  beforeEach(() => {
    server = join(scratch, 'server.git');
    git(scratch, 'clone', '--quiet', '--bare', root, server);
    hook = join(server, 'hooks/pre-receive');
  });

  test('compares a pushed commit, which is in quarantine', () => {
    const file = script('graphql', '--from', `git:main:${path}`, '--to', `git:$new:${path}`, '--declared', 'minor');
    const text = readFileSync(file, 'utf8').replaceAll("'git:$new:", 'git:"$new":\'');
    writeIn(server, 'hooks/pre-receive', text.replace('\n', '\nread old new ref\n'));
    chmodSync(hook, 0o755);
    commitAll(root);
    git(root, 'push', '--quiet', server, 'main');
    expect(exitCode()).toBe('1');
  });

  test('does not take a file for added whose place in the repository is unknown', async () => {
    const extracted = join(scratch, 'extracted/packages/api');
    writeIn(extracted, 'schema.graphql', broken);
    const args = ['graphql', '--from', 'git:main', '--to', 'schema.graphql'];
    expect(await runInFolder(extracted, args, { GIT_DIR: server })).toBe('git:main:schema.graphql: file not found\n');
  });
});

describe('what git cannot read is an error', () => {
  test.each([
    ['the contract', `main:${path}`],
    ['its folder', 'main:packages/api/versions'],
    ['the root', 'main^{tree}'],
  ])('%s', async (_, name) => {
    const id = lose(name);
    for (const args of [compared, ['workspace', '--root', root]]) {
      const printed = await runInFolder(folder, args);
      expect(printed).toMatch(
        new RegExp(`^\\S+: (?:the repository lacks the object|git ls-tree: .*) ?${id}|^\\S+: git `),
      );
      expect(printed).not.toMatch(/added|Passed/);
    }
  });

  test('a package.json of an older commit', async () => {
    git(root, 'checkout', '--quiet', 'main', '--', path);
    writeIn(folder, 'package.json', { name: '@books/api', version: '1.1.0' });
    commitAll(root);
    merge(root);
    lose('main~1:packages/api/package.json');
    expect(await runInFolder(root, ['workspace'])).toContain('the repository lacks the object');
  });

  test('a file that a sparse checkout leaves out', async () => {
    git(root, 'checkout', '--quiet', 'main', '--', path);
    writeIn(root, 'other/package.json', { name: 'other', version: '1.0.0' });
    commitAll(root);
    git(root, 'sparse-checkout', 'set', 'packages');
    lose('main:other/package.json');
    expect(await runInFolder(root, ['find'])).toContain('the repository lacks the object');
  });

  test('a damaged index', async () => {
    writeIn(root, '.git/index', 'DIRC');
    for (const args of [['find'], ['workspace']])
      expect(await runInFolder(root, args)).toMatch(/^\.: git ls-files: .*index/);
  });

  test('a repository of another user', async () => {
    vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', 'true');
    const copy = join(scratch, 'copy');
    cpSync(root, copy, { recursive: true });
    const [line] = (await runInFolder(join(copy, 'packages/api'), compared)).split('\n');
    expect(line).toBe(`${copy}: detected dubious ownership in repository at '${copy}'`);
    expect(readdirSync(copy)).toContain('packages');
  });
});

test('no other module starts git', () => {
  const source = join(packageFolder, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const starting = files.filter((name) => readFileSync(join(source, name), 'utf8').includes("'node:child_process'"));
  expect(starting.toSorted()).toEqual(['history/git.ts', 'source/npm-package.ts']);
});
