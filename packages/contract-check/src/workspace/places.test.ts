import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { create } from 'tar';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startContractServer, type ContractServer } from '../../test/support/contract-server.ts';
import { folderForFile, writeIn } from '../../test/support/folders.ts';
import { commitRelease, git, merge } from '../../test/support/git.ts';
import { checkWorkspace } from './check-workspace.ts';

// One released version of a package, at every place that can be a baseline.

const root = folderForFile();
const write = (path: string, text: string) => writeIn(root, path, text);
const file = 'versions/2026-01-01.graphql';
const sdl = 'type Query {\n  a: Int\n  b: Int\n}\n';
const deprecated = (sunsetOn: string): string =>
  JSON.stringify({ '2026-01-01': { status: 'deprecated', deprecatedOn: '2026-02-01', sunsetOn } });
const preview = JSON.stringify({ '2026-01-01': { status: 'preview' } });

let server: ContractServer;
let origin = '';

beforeAll(async () => {
  server = await startContractServer(sdl);
  ({ origin } = server);
  write('package.json', '{ "name": "books", "private": true }');
  write('api/package.json', '{ "name": "@books/api", "version": "1.0.0" }');
  write(`api/${file}`, sdl);
  write('api/versions.json', deprecated('2027-01-01'));
  commitRelease(root);
  cpSync(join(root, 'api'), join(root, '.released'), { recursive: true });
  cpSync(join(root, 'api'), join(root, '.packed/package'), { recursive: true });
  create({ file: join(root, 'api.tgz'), gzip: true, sync: true, cwd: join(root, '.packed') }, ['package']);
  server.publish('@books/api', '1.0.0', join(root, 'api.tgz'));
});
afterAll(() => server.close());
beforeEach(() => {
  vi.stubEnv('npm_config_registry', origin);
  vi.stubEnv('npm_config_cache', join(root, '.cache'));
  vi.stubEnv('npm_config_fetch_retries', '0');
  rmSync(join(root, 'contract-check.json'), { force: true });
  settle();
  write(`api/${file}`, sdl);
  write('api/versions.json', deprecated('2027-01-01'));
  return () => vi.unstubAllEnvs();
});

const places: Readonly<Record<string, () => string>> = {
  'a folder': () => join(root, '.released'),
  'a tarball': () => join(root, 'api.tgz'),
  'a commit': () => 'git:HEAD',
  'a published package': () => 'npm:@books/api@latest',
};

const entry = { kind: 'graphql', folder: 'api', files: ['versions/*.graphql'] };

/** Merges a configuration, so that the contracts are not compared as those of the documented folders as well. */
function configure(baseline: string): void {
  write('contract-check.json', JSON.stringify({ contracts: [{ ...entry, baseline }] }));
  settle();
}

let settled = '';

/** Commits the configuration, or its removal, if it changed. */
function settle(): void {
  const config = join(root, 'contract-check.json');
  const text = existsSync(config) ? readFileSync(config, 'utf8') : '';
  if (text === settled) return;
  settled = text;
  git(root, 'update-index', '--add', '--remove', '--', 'contract-check.json');
  git(root, 'commit', '--quiet', '--allow-empty', '--message', 'Configure');
  merge(root);
}

/** The rules of the changes that no bump allows, and of all changes. */
async function checked(place: string, isConfigured: boolean): Promise<unknown> {
  if (isConfigured) configure(place);
  const options = isConfigured ? {} : { baselines: [place] };
  const { packages } = await checkWorkspace({ root, today: '2026-03-01', ...options });
  return packages.map(({ name, changes }) => [name, changes.map(({ rule, breaksReleased }) => [rule, breaksReleased])]);
}

describe.each([
  ['--baseline', false],
  ['contracts of the configuration', true],
])('%s', (_, isConfigured) => {
  test.each(Object.keys(places))('reads the contract and the states of versions at %s', async (name) => {
    write(`api/${file}`, sdl.replace('  b: Int\n', ''));
    write('api/versions.json', deprecated('2026-12-01'));
    const changes = [
      ['version/sunsetEarlier', true],
      ['graphql/fieldRemoved', true],
    ];
    expect(await checked(places[name]?.() ?? '', isConfigured)).toEqual([['@books/api', changes]]);
  });

  test('reads the contract at a running server', async () => {
    write(`api/${file}`, sdl.replace('  b: Int\n', ''));
    expect(await checked(`${origin}/graphql`, isConfigured)).toEqual([
      ['@books/api', [['graphql/fieldRemoved', true]]],
    ]);
  });

  test('finds a version that is missing', async () => {
    rmSync(join(root, 'api', file));
    write('api/versions/2026-06-01.graphql', sdl);
    expect(await checked(join(root, '.released'), isConfigured)).toEqual([
      [
        '@books/api',
        [
          ['version/retiredEarly', true],
          [isConfigured ? 'version/contractAdded' : 'version/versionAdded', false],
        ],
      ],
    ]);
    rmSync(join(root, 'api/versions/2026-06-01.graphql'));
  });

  test('takes the state of a version at a running server from the workspace', async () => {
    write('api/versions.json', preview);
    write(`api/${file}`, sdl.replace('  b: Int\n', ''));
    expect(await checked(`${origin}/graphql`, isConfigured)).toEqual([
      ['@books/api', [['version/previewChanged', false]]],
    ]);
  });
});

test('a server cannot be the baseline of several contracts', async () => {
  write('api/versions/2026-06-01.graphql', sdl);
  const place = `${origin}/graphql`;
  await expect(checked(place, false)).rejects.toThrow(
    `${place}: serves one schema, but the workspace has 2 GraphQL contracts. Compare one of them: contract-check graphql --from ${place} --to FILE`,
  );
  await expect(checked(place, true)).rejects.toThrow(
    `contract-check.json: /contracts/0/baseline is one file, but /files match 2 files in ${join(root, 'api')}`,
  );
  rmSync(join(root, 'api/versions/2026-06-01.graphql'));
});

test('a versions.json of another kind has no effect', async () => {
  write('api/versions.json', '{ "node": "26", "list": [1] }');
  write(`api/${file}`, sdl.replace('  b: Int\n', ''));
  configure('.released');
  write('.released/versions.json', '[]');
  const { packages } = await checkWorkspace({ root });
  expect(packages[0]?.changes.map(({ rule, breaksReleased }) => [rule, breaksReleased])).toEqual([
    ['graphql/fieldRemoved', false],
  ]);
});
