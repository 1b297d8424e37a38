import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { create } from 'tar';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { linkedDefinitions, nestedChoices } from '../../test/support/chains.ts';
import { startContractServer, type ContractServer } from '../../test/support/contract-server.ts';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { approved, broken, contract, manifest, repositoryIn, sdl } from '../../test/support/gated-repository.ts';
import { commitAll, commitFirst, commitRelease, git, headOf, initRepository, merge } from '../../test/support/git.ts';
import { run } from '../cli/run.ts';
import { checkWorkspace } from './check-workspace.ts';

// What the changes in the working tree state about themselves does not count.

let folder: string;
let root: string;
beforeEach(() => {
  folder = folderForTest();
  root = join(folder, 'repository');
  mkdirSync(root);
});

const { write, release, commit, check } = repositoryIn(() => root);
const api = 'api/index.api.json';
const one = '{ "declarations": {} }';
const two = '{ "declarations": { "a": { "kind": "const", "signature": "1" } } }';
const renamed = { 'packages/api/package.json': { name: '@books/new', version: '1.0.0' } };
const brokenRelease = { codes: ['released-version-broken'], rules: ['graphql/fieldRemoved'] };

describe('a pull request does not choose what it is compared with', () => {
  test.each([
    ['a copy of the broken version in released/', { 'packages/api/released/versions/2026-01-01.graphql': broken }],
    ['removing released/', { 'packages/api/released': null }],
  ])('by %s', async (_, files) => {
    release({ 'packages/api/released/versions/2026-01-01.graphql': sdl });
    commit({ [contract]: broken, ...files });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('by an earlier pull request that changes released/ only', async () => {
    release({ 'packages/api/released/2026-01-01.graphql': sdl });
    commit({ 'packages/api/released/2026-01-01.graphql': broken });
    merge(root);
    write({ [contract]: broken });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('by a merge with several merge bases, of which git names the one with the latest date', async () => {
    const mergeInto = (branch: string) => git(root, 'merge', '--quiet', '--no-ff', '-m', `Into ${branch}`, 'earlier');
    release();
    git(root, 'checkout', '--quiet', '-b', 'earlier');
    commit({ 'earlier.txt': 'A' });
    git(root, 'checkout', '--quiet', 'main');
    commit({ 'main.txt': 'B' });
    git(root, 'branch', 'topic');
    mergeInto('main');
    merge(root);
    git(root, 'checkout', '--quiet', 'topic');
    mergeInto('topic');
    await expect(check()).rejects.toThrow('several merge bases');

    git(root, 'merge', '--quiet', '--message', 'Merge', 'main');
    commit({ [contract]: broken });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('by removing an entry of the configuration and its file', async () => {
    const contracts = [
      { kind: 'graphql', folder: 'packages/api', files: ['schema/a.graphql'] },
      { kind: 'graphql', folder: 'packages/api', files: ['schema/b.graphql'], baseline: 'git:main' },
    ];
    release({
      'packages/api/schema/a.graphql': sdl,
      'packages/api/schema/b.graphql': sdl,
      'contract-check.json': { contracts },
    });
    git(root, 'checkout', '--quiet', '-b', 'topic');
    commit({ 'contract-check.json': { contracts: contracts.slice(0, 1) }, 'packages/api/schema/b.graphql': null });
    expect(await check()).toMatchObject({
      verdicts: [['@books/api', 'major']],
      rules: ['version/contractRemoved'],
      codes: ['bump-too-small'],
    });
    commit({ 'packages/api/schema/b.graphql': sdl });
    const { rules, codes } = await check();
    expect({ rules, codes }).toEqual({ rules: ['version/contractRemoved'], codes: ['bump-too-small'] });
    commit({ 'contract-check.json': null, 'packages/api/schema/b.graphql': broken });
    expect((await check()).rules).toContain('graphql/fieldRemoved');
  });

  test('by a package.json in the folder of the contracts, which gives them to another package', async () => {
    const contracts = [{ kind: 'graphql', folder: 'packages/api/schema', files: ['*.graphql'] }];
    release({ 'packages/api/schema/a.graphql': sdl, 'contract-check.json': { contracts } });
    commit({
      'packages/api/schema/a.graphql': broken,
      'packages/api/schema/package.json': '{ "name": "x", "version": "0.0.1" }',
    });
    const { verdicts, codes } = await check();
    expect(verdicts).toContainEqual(['@books/api', 'major']);
    expect(codes).toContain('bump-too-small');
  });

  test('by a configuration that lists other contracts than those in the documented folders', async () => {
    release();
    const contracts = [{ kind: 'graphql', files: ['other.graphql'], package: '@books/api' }];
    write({ 'contract-check.json': { contracts }, 'other.graphql': sdl });
    expect(await check()).toMatchObject({ codes: ['bump-too-small'], rules: ['version/contractRemoved'] });
    write({ [contract]: broken });
    expect(await check()).toMatchObject({ codes: ['released-version-broken', 'bump-too-small'] });
  });

  test('by a place in the repository that the configuration names as the baseline', async () => {
    const contracts = [{ kind: 'graphql', folder: 'packages/api', files: ['schema/*.graphql'], baseline: 'published' }];
    release({
      'packages/api/schema/a.graphql': sdl,
      'published/schema/a.graphql': sdl,
      'contract-check.json': { contracts },
    });
    commit({ 'packages/api/schema/a.graphql': broken, 'published/schema/a.graphql': broken });
    expect(await check()).toMatchObject({ rules: ['graphql/fieldRemoved'] });
  });

  test('by another name of the package', async () => {
    release();
    commit({ [contract]: broken, ...renamed });
    expect(await check()).toMatchObject({
      verdicts: [
        ['@books/api', 'major'],
        ['@books/new', 'none'],
      ],
      codes: ['released-version-broken'],
      rules: ['version/packageRemoved'],
    });
    const { stdout } = await run(['workspace', '--root', root]);
    expect(stdout).toContain('The package was removed: packages/api is now @books/new.');
    expect(stdout).toContain('Failed: @books/api was removed, which no bump allows.');
    expect(stdout).toContain('To fix: restore the package @books/api.');
    git(root, 'reset', '--quiet', '--hard', 'HEAD~1');
    const removal = { file: 'package.json', rule: 'version/packageRemoved', coordinate: '@books/api' };
    commit({ 'contract-exceptions.json': approved(removal) });
    merge(root);
    commit(renamed);
    expect(await check()).toMatchObject({ codes: [], rules: ['version/packageRemoved'] });
    merge(root);
    expect(await check()).toMatchObject({ codes: [], rules: [], verdicts: [['@books/new', 'none']] });
  });

  test('by removing its folder', async () => {
    release();
    write({ 'packages/api': null, 'packages/other/package.json': '{ "name": "other" }' });
    expect(await check()).toMatchObject({ rules: ['version/packageRemoved'], codes: ['released-version-broken'] });
  });

  test('by removing its contracts', async () => {
    release({ 'packages/api/api/index.api.json': '{ "declarations": {} }' });
    write({ 'packages/api/versions': null, 'packages/api/api': null });
    const { rules, codes } = await check();
    expect(rules.toSorted()).toEqual(['version/contractRemoved', 'version/retiredEarly']);
    expect(codes).toContain('released-version-broken');
  });

  test('by settings that are less strict', async () => {
    const sdlWithEnum = 'type Query {\n  kind: Kind\n}\n\nenum Kind {\n  A\n}\n';
    release({ [contract]: sdlWithEnum, 'packages/api/package.json': manifest('1.0.0', { closedOutputs: true }) });
    write({
      [contract]: sdlWithEnum.replace('  A\n', '  A\n  B\n'),
      'packages/api/package.json': manifest('1.0.0', { closedOutputs: false }),
    });
    expect(await check()).toMatchObject({ codes: ['released-version-broken'] });
    commit({ [contract]: sdlWithEnum });
    merge(root);
    // The users of the latest release rely on closed outputs until the next release.
    write({ [contract]: sdlWithEnum.replace('  A\n', '  A\n  B\n') });
    expect(await check()).toMatchObject({ codes: ['released-version-broken'] });
  });

  test('by an append-only file that is no longer listed', async () => {
    const appendOnly = ['codes.json'];
    release({ 'packages/api/codes.json': '["A"]', 'packages/api/package.json': manifest('1.0.0', { appendOnly }) });
    write({ 'packages/api/codes.json': '[]', 'packages/api/package.json': manifest('1.0.0') });
    expect(await check()).toMatchObject({
      codes: ['released-version-broken', 'bump-too-small'],
      rules: ['version/contractRemoved', 'append-only/entryRemoved'],
    });
  });

  test('by a raised version, as far as it is smaller than the changes', async () => {
    release({
      [contract]: sdl,
      'packages/api/api/index.api.json': '{ "declarations": { "a": { "kind": "const", "signature": "1" } } }',
    });
    commit({
      'packages/api/package.json': manifest('1.1.0'),
      'packages/api/api/index.api.json': '{ "declarations": {} }',
    });
    expect(await check()).toMatchObject({ codes: ['bump-too-small'] });
    commit({ 'packages/api/package.json': manifest('2.0.0') });
    expect(await check()).toMatchObject({ codes: [] });
  });

  test('by an invalid configuration that is merged, which a pull request can repair', async () => {
    release({ 'contract-check.json': '{' });
    expect((await run(['workspace', '--root', root])).exitCode).toBe(2);
    write({ 'contract-check.json': '{}' });
    const { codes, notices } = await check();
    expect({ codes, notices }).toEqual({ codes: [], notices: [expect.stringContaining('contract-check.json:1: ')] });
  });
});

describe('a pull request can repair a released contract', () => {
  test('that is invalid, but can be compared', async () => {
    release({ [contract]: 'type Query {\n  a: Int\n  a: Int\n  b: Int\n}\n' });
    commit({ [contract]: sdl });
    expect(await check()).toMatchObject({
      rules: [],
      codes: [],
      notices: expect.arrayContaining(['The old version is invalid: Field "Query.a" can only be defined once.']),
    });
    commit({ [contract]: broken });
    expect(await check()).toMatchObject(brokenRelease);
    commit({ [contract]: 'type Query {\n  a: Int\n  a: Int\n}\n' });
    await expect(check()).rejects.toThrow(/2026-01-01\.graphql:3: Field "Query\.a" can only be defined once\./);
  });

  test.each([
    ['versions/2026-01-01.graphql', 'type Query {', sdl, 'released-version-broken'],
    ['versions/2026-01-01.manifest.json', '{ "limits": 1 }', '{}', 'released-version-broken'],
    ['json-schema/entry/1.json', '{ "type": "strin" }', '{ "type": "string" }', 'released-version-broken'],
    ['codes.json', '{', '{}', 'released-version-broken'],
    ['api/index.api.json', '{}', one, 'bump-too-small'],
  ])('that cannot be compared, in a major or by an exception: %s', async (path, old, now, code) => {
    const file = `packages/api/${path}`;
    const settings = { appendOnly: ['codes.json'] };
    const coordinate = path.slice(path.lastIndexOf('/') + 1);
    const rule = 'version/contractRepaired';
    release({ 'packages/api/package.json': manifest('1.0.0', settings), [contract]: sdl, [file]: old });
    commit({ [file]: now });
    const problem = { rules: [rule], codes: [code] };
    expect(await check()).toMatchObject(problem);
    write({ [file]: old });
    commit({ 'contract-exceptions.json': approved({ file: path, rule, coordinate, verdict: 'patch' }) });
    merge(root);
    write({ [file]: now });
    expect(await check({ declared: 'patch' })).toMatchObject({ rules: [rule], codes: [] });
    write({ [file]: old });
    await expect(check()).rejects.toThrow(path);
  });

  test.each([
    ['takes too long', nestedChoices(5)],
    ['needs too much of the stack', linkedDefinitions(20_000)],
  ])('that %s to compare, which hides no other change', async (_, schema) => {
    const [large, small] = ['a', 'b'].map((type) => `packages/api/json-schema/${type}/1.json`);
    if (large === undefined || small === undefined) throw new Error('unreachable');
    release({ [large]: { type: 'string' }, [small]: { type: 'string' } });
    commit({ [large]: schema, [small]: { type: 'string', maxLength: 5 } });
    const { rules } = await check({ declared: 'major' });
    expect(rules).toEqual(['version/contractNotCompared', 'json-schema/boundTightened']);
  });
});

describe('the latest release', () => {
  test('of a version is the oldest commit that has it, over all parents', async () => {
    release();
    const start = headOf(root);
    // The topic breaks the contract, merges the next release of main, and main moves to the topic.
    git(root, 'checkout', '--quiet', '-b', 'topic', start);
    commit({ [contract]: broken });
    git(root, 'checkout', '--quiet', 'main');
    const raised = commit({ 'packages/api/package.json': manifest('1.0.1') });
    git(root, 'checkout', '--quiet', 'topic');
    git(root, 'merge', '--quiet', '--no-edit', 'main');
    git(root, 'checkout', '--quiet', 'main');
    git(root, 'merge', '--quiet', '--ff-only', 'topic');
    merge(root);
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['commit <id> (1.0.1)'] });
    expect((await checkWorkspace({ root })).packages[0]?.baseline).toBe(`commit ${raised.slice(0, 12)} (1.0.1)`);
  });

  test('is each of the commits if branches raised the version independently', async () => {
    release();
    git(root, 'checkout', '--quiet', '-b', 'topic');
    git(root, 'commit', '--quiet', '--allow-empty', '--message', 'Begin');
    commit({ 'packages/api/package.json': manifest('1.1.0'), [contract]: broken });
    git(root, 'checkout', '--quiet', 'main');
    commit({ 'packages/api/package.json': manifest('1.1.0') });
    git(root, 'merge', '--quiet', '--no-edit', '--strategy=ours', 'topic');
    merge(root);
    expect((await check()).baselines[0]?.split(', ')).toHaveLength(2);
    write({ [contract]: broken });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('is found in the former folder of a package', async () => {
    release();
    mkdirSync(join(root, 'libraries'));
    renameSync(join(root, 'packages/api'), join(root, 'libraries/api'));
    expect(await check()).toMatchObject({ rules: [], codes: [] });
    commit();
    merge(root);
    write({ 'libraries/api/versions/2026-01-01.graphql': broken });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('is at the tag of the version, which may be on another branch', async () => {
    release();
    git(root, 'tag', '--annotate', '--message', 'Release', '@books/api@1.0.0');
    write({ [contract]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['tag @books/api@1.0.0'] });
  });

  test.each([
    ['other contracts', { [contract]: broken }, 'its contracts differ from those of commit'],
    ['another version', { 'packages/api/package.json': manifest('1.1.0') }, 'its package.json has version 1.1.0'],
  ])('is an error if the tag has %s', async (_, files, message) => {
    release();
    git(root, 'checkout', '--quiet', '-b', 'topic');
    commit(files);
    git(root, 'tag', '@books/api@1.0.0');
    git(root, 'checkout', '--quiet', 'main');
    const { exitCode, stderr } = await run(['workspace', '--root', root]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
    expect(stderr).toContain('Move the tag to the commit that was released, or delete it.');
  });

  test('is at the newest tag if the version never changes in git', async () => {
    write({ 'package.json': { name: 'api', version: '0.0.0-development' }, 'versions/1.graphql': broken });
    commitFirst(root);
    merge(root);
    expect(await check()).toMatchObject({
      baselines: ['commit <id>'],
      codes: [],
      notices: [expect.stringContaining('push a tag api@VERSION for each release')],
    });
    git(root, 'tag', 'v1.9.0');
    commit({ 'versions/1.graphql': sdl });
    git(root, 'tag', 'v1.10.0');
    merge(root);
    write({ 'versions/1.graphql': broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['tag v1.10.0'], notices: [] });
  });

  test('is at the newest tag if the version stays a static one, or is no longer committed', async () => {
    const [first, second] = ['versions/1.graphql', 'versions/2.graphql'] as const;
    write({ 'package.json': { name: 'api', version: '1.0.0' }, [first]: sdl });
    commitFirst(root);
    git(root, 'tag', 'v1.0.0');
    commit({ [second]: sdl });
    git(root, 'tag', 'v1.1.0');
    merge(root);
    write({ [second]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['tag v1.1.0'], notices: [] });
    commit({ [second]: sdl, 'package.json': { name: 'api', version: '1.2.0' } });
    merge(root);
    expect(await check()).toMatchObject({ baselines: ['commit <id> (1.2.0)'] });
    git(root, 'tag', 'v1.3.0');
    write({ [second]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['tag v1.3.0'] });
  });

  test('has the version of its tag once a pull request commits one', async () => {
    write({ 'package.json': { name: 'api', version: '1.0.0' }, [api]: two });
    commitFirst(root);
    git(root, 'tag', 'v1.1.0');
    merge(root);
    write({ [api]: one });
    expect(await check({ declared: 'minor' })).toMatchObject({ codes: ['bump-too-small'] });
    expect(await check({ declared: 'major' })).toMatchObject({ codes: [] });
    write({ 'package.json': { name: 'api', version: '1.2.0' } });
    expect(await check({ declared: 'major' })).toMatchObject({ codes: ['bump-too-small'] });
    write({ 'package.json': { name: 'api', version: '2.0.0' } });
    expect(await check()).toMatchObject({ codes: [] });
  });

  test('is the first commit if it has the version, with a notice', async () => {
    write({ 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl });
    commitFirst(root);
    merge(root);
    write({ [contract]: broken });
    expect(await check()).toMatchObject({
      ...brokenRelease,
      notices: [expect.stringContaining('has had version 1.0.0 since its first commit')],
    });
  });

  test('is that before a pre-release', async () => {
    release({
      'packages/api/api/index.api.json': '{ "declarations": { "a": { "kind": "const", "signature": "1" } } }',
    });
    commit({
      'packages/api/package.json': manifest('2.0.0-next.0'),
      'packages/api/api/index.api.json': '{ "declarations": {} }',
    });
    merge(root);
    commit({ 'packages/api/package.json': manifest('2.0.0-next.1') });
    expect(await check()).toMatchObject({
      verdicts: [['@books/api', 'major']],
      codes: [],
      baselines: ['commit <id> (1.0.0)'],
    });
    write({ [contract]: broken });
    expect(await check()).toMatchObject({ codes: ['released-version-broken'] });
  });

  test('does not exist for a new package, nor for one that has only had version 0.0.0', async () => {
    release();
    const other = {
      'packages/new/package.json': '{ "name": "new", "version": "1.0.0" }',
      'packages/new/versions/1.graphql': sdl,
    };
    write(other);
    expect(await check()).toMatchObject({ baselines: ['commit <id> (1.0.0)', null], codes: [], notices: [] });
    commit({ ...other, 'packages/new/package.json': '{ "name": "new", "version": "0.0.0" }' });
    merge(root);
    write({ 'packages/new/versions/1.graphql': broken });
    expect(await check()).toMatchObject({ baselines: ['commit <id> (1.0.0)', null], codes: [] });
    write({ 'packages/new': null });
    expect(await check()).toMatchObject({ verdicts: [['@books/api', 'none']], codes: [] });
  });

  test.each([
    ['no version', undefined],
    ['a placeholder', '0.0.0-development'],
  ])('of a package with %s and without a tag is what is merged', async (_, version) => {
    const contracts = [{ kind: 'graphql', files: ['schema.graphql'] }];
    for (const [path, config] of [
      ['packages/api/versions/1.graphql', null],
      ['schema.graphql', { contracts }],
    ] as const) {
      const of = path === 'schema.graphql' ? 'package.json' : 'packages/api/package.json';
      write({ [of]: { name: 'api', version }, [path]: sdl });
      if (config !== null) write({ 'contract-check.json': config });
      if (config === null) commitFirst(root);
      else commitAll(root);
      merge(root);
      write({ [path]: broken });
      const notices = [expect.stringContaining('so what is merged counts as released')];
      expect(await check({ declared: 'minor' })).toMatchObject({
        rules: ['graphql/fieldRemoved'],
        baselines: ['commit <id>'],
        notices,
      });
      const { exitCode, stdout } = await run(['workspace', '--root', root]);
      expect({ exitCode, remedy: stdout.includes('raise "version"') }).toEqual({ exitCode: 1, remedy: false });
      write({ [path]: sdl });
      rmSync(join(root, 'packages'), { recursive: true, force: true });
    }
  });

  test('does not exist for version 0.0.0, of which nothing is claimed', async () => {
    const contracts = [{ kind: 'graphql', files: ['schema.graphql'] }];
    write({
      'package.json': '{ "name": "api", "version": "0.0.0" }',
      'schema.graphql': sdl,
      'contract-check.json': { contracts },
    });
    commitFirst(root);
    write({ 'schema.graphql': broken });
    const outputs = ['text', 'json', 'github', 'markdown'].map((format) =>
      run(['workspace', '--root', root, '--declared', 'none', '--format', format]),
    );
    for (const { exitCode, stdout } of await Promise.all(outputs)) {
      expect(exitCode).toBe(0);
      expect(stdout).toContain('so it was not compared, and every change is allowed.');
      expect(stdout).not.toMatch(/every change is declared|No changes/);
    }
  });

  test('does not exist for contracts that a released package gains', async () => {
    write({ 'packages/api/package.json': manifest('1.0.0') });
    commitRelease(root);
    write({ [contract]: sdl });
    expect(await check()).toMatchObject({ baselines: [null], codes: [], rules: [] });
    const contracts = [{ kind: 'graphql', folder: 'packages/api', files: ['schema/*.graphql'] }];
    write({ 'contract-check.json': { contracts }, 'packages/api/schema/a.graphql': sdl });
    expect(await check()).toMatchObject({ baselines: [null], codes: [], rules: [] });
  });

  test('of contracts without a package is what is merged', async () => {
    const contracts = [{ kind: 'graphql', files: ['schema/*.graphql'], package: 'gateway' }];
    release({ 'contract-check.json': { contracts }, 'schema/a.graphql': sdl });
    write({ 'schema/a.graphql': null });
    expect(await check()).toMatchObject({ rules: ['version/contractRemoved'], codes: ['bump-too-small'] });
  });

  test.each([undefined, '.', './'])('of contracts in a package in the root is found for the folder %j', async (of) => {
    const contracts = [{ kind: 'graphql', folder: of, files: ['*.graphql'] }];
    write({ 'package.json': manifest('1.0.0'), 'a.graphql': sdl, 'contract-check.json': { contracts } });
    commitRelease(root);
    write({ 'a.graphql': broken });
    expect(await check()).toMatchObject({ codes: ['bump-too-small'], baselines: ['commit <id> (1.0.0)'] });
  });

  test('of a package in a folder of the repository is found from that folder', async () => {
    const outer = root;
    root = join(outer, 'backend');
    write({ 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl });
    commitRelease(outer);
    write({ [contract]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['commit <id> (1.0.0)'], notices: [] });
  });
});

function npmrc(origin: string): string {
  return `registry=${origin}\n`;
}

/** @param text that of the contract. Null if `files` in package.json leaves it out. */
function pack(version: string, text: string | null): string {
  const packed = join(folder, version);
  writeIn(packed, 'package/package.json', manifest(version));
  if (text !== null) writeIn(packed, 'package/versions/2026-01-01.graphql', text);
  const tarball = join(folder, `${version}.tgz`);
  create({ file: tarball, gzip: true, sync: true, cwd: packed }, ['package']);
  return tarball;
}

/** With an npm that finds version 1.0.0. The one of this machine takes longer than the check. */
function publishedAs(text: string | null): void {
  const [bin, tarball] = [join(folder, 'bin'), pack('1.0.0', text)];
  mkdirSync(bin);
  const script = `#!/bin/sh\nif [ "$1" = view ]; then echo '["1.0.0"]'; else cp '${tarball}' "$6"; fi\n`;
  writeFileSync(join(bin, 'npm'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}${delimiter}${process.env['PATH'] ?? ''}`);
}

describe('the registry', () => {
  let server: ContractServer;
  beforeEach(async () => {
    server = await startContractServer('type Query { a: Int }');
    vi.stubEnv('npm_config_registry', undefined);
    vi.stubEnv('npm_config_cache', join(folder, 'cache'));
    vi.stubEnv('npm_config_fetch_retries', '0');
    return () => {
      vi.unstubAllEnvs();
      server.close();
    };
  });

  test('has precedence over git, with the .npmrc that is merged', async () => {
    release({ '.npmrc': npmrc(server.origin), 'contract-check.json': '{ "registry": true }' });
    server.publish('@books/api', '1.0.0', pack('1.0.0', sdl));
    // Raised, but not published.
    commit({ 'packages/api/package.json': manifest('1.1.0'), [contract]: broken });
    merge(root);
    commit({ '.npmrc': npmrc('http://127.0.0.1:1'), 'contract-check.json': '{}' });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['npm:@books/api@1.0.0'] });
  });

  test('does not answer for a package that it does not have, or has in larger versions only', async () => {
    release({ '.npmrc': npmrc(server.origin), 'contract-check.json': '{ "registry": true }' });
    expect(await check()).toMatchObject({ baselines: ['commit <id> (1.0.0)'] });
    server.publish('@books/api', '1.1.0', pack('1.1.0', broken));
    expect(await check()).toMatchObject({ baselines: ['commit <id> (1.0.0)'] });
  });

  test('has the contracts that git has at a version, if the tarball leaves them out', async () => {
    release({ '.npmrc': npmrc(server.origin), 'contract-check.json': '{ "registry": true }' });
    publishedAs(null);
    write({ [contract]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['npm:@books/api@1.0.0'] });
    commit({ [contract]: sdl, 'packages/api/versions/2027-01-01.graphql': sdl });
    merge(root);
    write({ 'packages/api/versions/2027-01-01.graphql': broken });
    expect(await check({ declared: 'minor' })).toMatchObject({ rules: ['version/versionAdded'], codes: [] });
  });

  test('is an error if neither the tarball nor git shows the contracts of a version', async () => {
    const files = { '.npmrc': npmrc(server.origin), 'contract-check.json': '{ "registry": true }' };
    write({ ...files, 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl });
    commitFirst(root);
    merge(root);
    publishedAs(null);
    write({ [contract]: broken });
    await expect(check()).rejects.toThrow(
      'npm:@books/api@1.0.0: does not contain versions/2026-01-01.graphql, and no commit or tag shows what this version had.',
    );
    git(root, 'tag', '@books/api@1.0.0');
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('has the contracts that git does not need to have', async () => {
    const ignored = { '.gitignore': 'versions\n', 'packages/api/versions': null };
    release({ '.npmrc': npmrc(server.origin), 'contract-check.json': '{ "registry": true }' });
    publishedAs(sdl);
    commit(ignored);
    write({ [contract]: broken });
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('is not asked for a name that npm takes for an option', async () => {
    vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1/');
    const text = manifest('1.0.0').replace('@books/api', `--registry=${server.origin}`);
    release({ 'packages/api/package.json': text, 'contract-check.json': '{ "registry": true }' });
    write({ [contract]: broken });
    expect(await check()).toMatchObject({ ...brokenRelease, baselines: ['commit <id> (1.0.0)'] });
  });

  test('is an error if it does not respond', async () => {
    release({ '.npmrc': npmrc('http://127.0.0.1:1'), 'contract-check.json': '{ "registry": true }' });
    await expect(check()).rejects.toThrow('npm:@books/api: npm cannot read the versions of the package.');
  });
});

describe('the base', () => {
  const environment = { GITHUB_BASE_REF: 'stable' };

  test('is the merge base, not the tip of the target', async () => {
    release();
    git(root, 'checkout', '--quiet', '-b', 'topic');
    git(root, 'checkout', '--quiet', 'main');
    commit({
      'packages/other/package.json': '{ "name": "other", "version": "1.0.0" }',
      'packages/other/versions/1.graphql': sdl,
    });
    merge(root);
    git(root, 'checkout', '--quiet', 'topic');
    expect(await check()).toMatchObject({ verdicts: [['@books/api', 'none']], codes: [] });
  });

  test('is the target of a pull request in a GitHub workflow, unless --base names one', async () => {
    release();
    git(root, 'update-ref', 'refs/remotes/origin/stable', 'HEAD');
    commit(renamed);
    merge(root);
    expect((await check({ environment })).rules).toEqual(['version/packageRemoved']);
    expect((await check({ environment, base: 'HEAD' })).rules).toEqual([]);
    expect((await check()).rules).toEqual([]);
    await expect(check({ environment: { GITHUB_BASE_REF: 'lost' } })).rejects.toThrow(
      '--base origin/lost: no such commit. Fetch it, for example: git fetch origin lost',
    );
  });

  test('is the fetched branch, even if the pull request comes from a branch of the same name', async () => {
    release();
    merge(root);
    git(root, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    git(root, 'checkout', '--quiet', '-b', 'origin/main');
    commit(renamed);
    expect((await check({ base: 'origin/main' })).rules).toEqual(['version/packageRemoved']);
  });

  test('is the base of a merge queue', async () => {
    release();
    const sha = headOf(root);
    commit(renamed);
    merge(root);
    const event = writeIn(folder, 'event.json', { merge_group: { base_sha: sha } });
    const queue = { GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'merge_group' };
    expect((await check({ environment: { ...queue, GITHUB_EVENT_PATH: event } })).rules).toEqual([
      'version/packageRemoved',
    ]);
    await expect(check({ environment: queue })).rejects.toThrow('--base: the merge queue does not name its base.');
  });

  test('is HEAD in a workflow for a push, with a notice unless it is a push to the main branch', async () => {
    release();
    write({ 'event.json': '{ "repository": { "default_branch": "main" } }' });
    const push = {
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_EVENT_PATH: join(root, 'event.json'),
      GITHUB_REF_TYPE: 'branch',
    };
    expect((await check({ environment: { ...push, GITHUB_REF_NAME: 'topic' } })).notices).toEqual([
      expect.stringMatching(
        /^The workflow runs for a push to topic, so HEAD counts as merged: .* --base origin\/main\.$/,
      ),
    ]);
    expect((await check({ environment: { ...push, GITHUB_REF_NAME: 'main' } })).notices).toEqual([]);
    expect((await check({ environment: { ...push, GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' } })).notices).toEqual(
      [],
    );
  });

  test('is HEAD without a remote, with a notice', async () => {
    release();
    git(root, 'symbolic-ref', '--delete', 'refs/remotes/origin/HEAD');
    write({ [contract]: broken });
    const { rules, notices } = await check();
    expect({ rules, notices }).toEqual({
      rules: ['graphql/fieldRemoved'],
      notices: [expect.stringContaining('The repository has no remote')],
    });
  });

  test('is unknown if a remote does not show its main branch, except in a workflow', async () => {
    release();
    git(root, 'symbolic-ref', '--delete', 'refs/remotes/origin/HEAD');
    git(root, 'remote', 'add', 'origin', 'https://git.example.com/books.git');
    const { exitCode, stderr } = await run(['workspace', '--root', root], undefined, {});
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Pass --base origin/main, or run: git remote set-head origin --auto');
    expect(await check({ environment: { GITHUB_ACTIONS: 'true' } })).toMatchObject({ codes: [], notices: [] });
  });

  test('protects the latest release in a clone whose origin/HEAD is the commit that breaks it', async () => {
    release();
    commit({ [contract]: broken });
    git(folder, 'clone', '--quiet', root, 'clone');
    root = join(folder, 'clone');
    expect(await check()).toMatchObject(brokenRelease);
  });

  test('and the latest release are missing in a shallow clone, with the command that fetches them', async () => {
    release();
    commit({ 'README.md': 'Books' });
    git(root, 'checkout', '--quiet', '-b', 'topic');
    commit({ [contract]: broken });
    git(folder, 'clone', '--quiet', '--depth=1', '--branch=topic', pathToFileURL(root).href, 'shallow');
    root = join(folder, 'shallow');
    for (const args of [[], ['--base', 'origin/main'], ['--base', 'HEAD']]) {
      const { exitCode, stdout, stderr } = await run(['workspace', '--root', root, ...args], undefined, {});
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain('the clone is shallow');
      expect(stderr).toContain('git fetch --unshallow --tags');
    }
    git(root, 'fetch', '--quiet', '--unshallow', '--tags', 'origin', '+refs/heads/*:refs/remotes/origin/*');
    expect(await check({ base: 'origin/main' })).toMatchObject(brokenRelease);
  });

  test('is missing outside a git repository, unless --baseline names what is released', async () => {
    write({ 'packages/api/package.json': manifest('1.0.0'), [contract]: sdl });
    cpSync(root, join(folder, 'published'), { recursive: true });
    write({ [contract]: broken });
    await expect(check()).rejects.toThrow('is not in a git repository, so nothing shows what was last released.');
    expect(await check({ baselines: [join(folder, 'published')] })).toMatchObject(brokenRelease);
    initRepository(root);
    await expect(check()).rejects.toThrow('the repository has no commit');
  });
});

async function released(): Promise<{ exitCode: number; output: string }> {
  const { exitCode, stdout, stderr } = await run(['release', '--root', root]);
  return { exitCode, output: (stdout + stderr).replaceAll(/[0-9a-f]{12}/g, '<id>') };
}

describe('contract-check release', () => {
  test('prints what was last released and where, and passes while the contracts are as released', async () => {
    release();
    write({
      'packages/new/package.json': '{ "name": "new", "version": "0.0.0" }',
      'packages/new/versions/1.graphql': sdl,
    });
    commit();
    git(root, 'tag', '@books/api@1.0.0');
    const { exitCode, output } = await released();
    expect({ exitCode, lines: output.split('\n').slice(0, 2) }).toEqual({
      exitCode: 0,
      lines: ['@books/api 1.0.0: tag @books/api@1.0.0', 'new 0.0.0: not released yet'],
    });
  });

  test('fails if a contract changed after its version was raised, whatever the changesets declare', async () => {
    release({ '.changeset/config.json': '{}', 'package.json': '{ "name": "books", "private": true }' });
    commit({ [contract]: broken, '.changeset/a.md': '---\n"@books/api": major\n---\n' });
    expect(await released()).toEqual({
      exitCode: 1,
      output: `@books/api 1.0.0: commit <id> (1.0.0)
  changed since: the changes need a major bump
    major  versions/2026-01-01.graphql  Query.b

Failed: @books/api
To fix: raise the version of each of them, and commit it, before you publish it.
`,
    });
    commit({ 'packages/api/package.json': manifest('2.0.0') });
    expect(await released()).toMatchObject({ exitCode: 0, output: expect.stringContaining('commit <id> (2.0.0)') });
  });
});
