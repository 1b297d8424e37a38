import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkReleased } from './check-released.ts';
import { writeReleased } from './contract-files.ts';

const sdl = 'packages/api/versions/2026-11-01.graphql';

let folder: string;
let root: string;

function git(...args: string[]): string {
  const author = ['-c', 'commit.gpgsign=false', '-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
  return execFileSync('git', [...author, ...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function commit(files: Readonly<Record<string, string>> = {}): void {
  for (const [path, text] of Object.entries(files)) write(path, text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A commit');
}

const manifest = (version: string, settings = ''): string => `{ "name": "api", "version": "${version}"${settings} }`;

/** Raises the version and writes `released/`, as `pnpm run version` does. */
function cut(version: string, settings = ''): void {
  write('packages/api/package.json', manifest(version, settings));
  writeReleased(join(root, 'packages/api'));
}

async function check(historyRequired = true): Promise<{ succeeded: boolean; output: string; warnings?: string }> {
  return checkReleased({ root, historyRequired });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'check-released-'));
  root = join(folder, 'origin');
  mkdirSync(root);
  git('init', '--quiet', '--initial-branch=main');
  commit({ 'README.md': 'Books' });
  commit({ 'packages/api/package.json': manifest('0.0.0'), [sdl]: 'one' });
  cut('1.0.0');
  commit();
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('without a tag, the baseline is the commit in which package.json reached the version', () => {
  test('passes after the release, and after the contract changed', async () => {
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
    commit({ [sdl]: 'two' });
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
  });

  test.each([
    ['changed together with the contract', { [sdl]: 'two', [sdl.replace('versions', 'released/versions')]: 'two' }],
    ['changed alone', { [sdl.replace('versions', 'released/versions')]: 'two' }],
    ['extended', { 'packages/api/released/versions/2027-02-01.graphql': 'two' }],
  ])('fails if released/ is %s', async (_, files) => {
    commit(files);
    const { succeeded, output } = await check();
    expect(output).toMatch(/^packages\/api\/released\/versions\/.+ differs from the last release, [0-9a-f]{40}\n$/);
    expect(succeeded).toBe(false);
  });

  test('fails if released/ is removed', async () => {
    rmSync(join(root, 'packages/api/released'), { recursive: true });
    expect(await check()).toMatchObject({ succeeded: false });
  });

  test('fails if a later commit of the same version changes both', async () => {
    commit({ [sdl]: 'two' });
    cut('1.1.0');
    commit();
    expect(await check()).toMatchObject({ succeeded: true });
    write(sdl, 'three');
    cut('1.1.0');
    commit();
    expect(await check()).toMatchObject({ succeeded: false });
  });

  test('fails if the commit that raises the version changes a contract', async () => {
    write(sdl, 'two');
    cut('1.1.0');
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
    commit();
    const { succeeded, output } = await check();
    expect(output).toContain(`${sdl} changes in`);
    expect(succeeded).toBe(false);
  });
});

test('a tag of the version is the baseline', async () => {
  commit({ [sdl]: 'two', [sdl.replace('versions', 'released/versions')]: 'two' });
  git('tag', 'api@1.0.0');
  expect(await check()).toMatchObject({ succeeded: true });
  git('tag', '--force', 'api@1.0.0', 'HEAD~1');
  expect(await check()).toMatchObject({ succeeded: false });
});

test('API reports that the last release did not have are compared with the commit that added them', async () => {
  const report = 'packages/api/released/api/index.api.json';
  write(report, 'one');
  expect(await check()).toMatchObject({ succeeded: true });
  commit();
  expect(await check()).toMatchObject({ succeeded: true });
  write(report, 'two');
  expect(await check()).toMatchObject({ succeeded: false });
  rmSync(join(root, report));
  expect(await check()).toMatchObject({ succeeded: false });
  commit();
  write(report, 'two');
  commit();
  expect(await check()).toMatchObject({ succeeded: false });
});

test('an append-only file belongs to the release', async () => {
  const settings = ', "contractCheck": { "appendOnly": ["codes.json"] }';
  commit({ 'packages/api/codes.json': 'one', 'packages/api/package.json': manifest('1.0.0', settings) });
  cut('1.1.0', settings);
  commit();
  expect(await check()).toMatchObject({ succeeded: true });
  commit({ 'packages/api/codes.json': 'two', 'packages/api/released/codes.json': 'two' });
  expect(await check()).toMatchObject({ succeeded: false });
});

test('the first commit of an imported history counts as released', async () => {
  const origin = root;
  root = join(folder, 'imported');
  mkdirSync(root);
  execFileSync('sh', ['-c', `cp -R ${origin}/packages .`], { cwd: root });
  git('init', '--quiet', '--initial-branch=main');
  commit({ [sdl]: 'two' });
  expect(await check()).toMatchObject({ succeeded: true, output: '' });
  commit({ [sdl.replace('versions', 'released/versions')]: 'two' });
  expect(await check()).toMatchObject({ succeeded: false });
});

describe('without history', () => {
  test('a shallow clone is a warning, and fails if history is required', async () => {
    commit({ 'README.md': 'More books' });
    git('clone', '--quiet', '--depth=1', pathToFileURL(root).href, join(folder, 'shallow'));
    root = join(folder, 'shallow');
    const warning = /^No history shows the last release of api, .+ git fetch --unshallow\n$/;
    expect(await check(false)).toMatchObject({ succeeded: true, warnings: expect.stringMatching(warning) });
    expect(await check(true)).toMatchObject({ succeeded: false, output: expect.stringMatching(warning) });
  });

  test('a folder without a repository is a warning', async () => {
    rmSync(join(root, '.git'), { recursive: true });
    expect(await check(false)).toMatchObject({ succeeded: true, warnings: expect.stringContaining('api') });
    expect(await check(true)).toMatchObject({ succeeded: false });
  });

  test('a clone without tags has the whole history', async () => {
    git('tag', 'api@1.0.0');
    git('clone', '--quiet', '--no-tags', pathToFileURL(root).href, join(folder, 'clone'));
    root = join(folder, 'clone');
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
    write(sdl.replace('versions', 'released/versions'), 'two');
    expect(await check()).toMatchObject({ succeeded: false });
  });
});

describe('the release records', () => {
  const records = 'packages/api/releases.json';

  test('pass as the release wrote them, and fail when a later commit changes or removes them', async () => {
    write(records, '{ "1.1.0": {} }');
    cut('1.1.0');
    commit();
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
    commit({ [records]: '{ "1.1.0": { "2026-11-01": {} } }' });
    expect(await check()).toMatchObject({
      succeeded: false,
      output: expect.stringMatching(/^packages\/api\/releases\.json differs from [0-9a-f]{40}, which wrote it/),
    });
    rmSync(join(root, records));
    expect(await check()).toMatchObject({ succeeded: false });
  });

  test('can be added after a release that had none, and then only a release changes them', async () => {
    commit({ [records]: '{ "1.0.0": {} }' });
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
    commit({ [records]: '{}' });
    expect(await check()).toMatchObject({ succeeded: false });
    write(records, '{ "1.0.0": {}, "1.1.0": {} }');
    cut('1.1.0');
    commit();
    expect(await check()).toMatchObject({ succeeded: true, output: '' });
  });
});
