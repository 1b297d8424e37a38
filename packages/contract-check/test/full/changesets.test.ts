import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDeclaredBumps } from '../../src/workspace/changesets.ts';
import { folderForFile, writeIn } from '../support/folders.ts';
import { commitFirst } from '../support/git.ts';

const packages = join(import.meta.dirname, '../..');
const commands = {
  2: realpathSync(join(packages, 'node_modules/changesets-2')),
  3: realpathSync(join(packages, '../../node_modules/@changesets/cli')),
};

const versioned = { privatePackages: { version: true, tag: true } };
const api = { name: '@shop/api', version: '1.0.0', private: true };
const lib = { name: '@shop/lib', version: '1.0.0' };
const onPeer = { ...api, peerDependencies: { '@shop/lib': '^1.0.0' } };
const onLib = { ...api, dependencies: { '@shop/lib': '^1.0.0' } };

type Bumps = Readonly<Record<string, string>>;

/** The bumps with Changesets 2 and 3. A text is the error of Changesets. */
type Row = readonly [
  what: string,
  settings: object,
  api: object,
  changeset: Bumps,
  in2: Bumps | string,
  in3: Bumps | string,
];

const [apiMinor, libPatch] = [{ '@shop/api': 'minor' }, { '@shop/lib': 'patch' }];
const both = { ...apiMinor, ...libPatch };
const mixed = 'Found mixed changeset one';

const rows: readonly Row[] = [
  ['no setting, a private and a public package', {}, api, both, both, mixed],
  ['no setting, a private package', {}, api, apiMinor, apiMinor, {}],
  ['{}', { privatePackages: {} }, api, apiMinor, apiMinor, {}],
  ['{ tag: true }', { privatePackages: { tag: true } }, api, apiMinor, apiMinor, 'Invalid combination'],
  ['false', { privatePackages: false }, api, both, mixed, mixed],
  ['the settings of changeset init 2', { privatePackages: { version: true, tag: false } }, api, both, both, both],
  [
    'a minor of a peer',
    versioned,
    onPeer,
    { '@shop/lib': 'minor' },
    { '@shop/lib': 'minor', '@shop/api': 'major' },
    { '@shop/lib': 'minor' },
  ],
  ['a patch of a peer', versioned, onPeer, libPatch, libPatch, libPatch],
  [
    'a major of a dependency',
    versioned,
    onLib,
    { '@shop/lib': 'major' },
    { '@shop/lib': 'major', '@shop/api': 'patch' },
    { '@shop/lib': 'major', '@shop/api': 'patch' },
  ],
  ['an ignored package', { ...versioned, ignore: ['@shop/lib'] }, api, both, mixed, mixed],
  [
    'an unknown package in a fixed group',
    { ...versioned, fixed: [['@shop/*', '@gone/x']] },
    api,
    apiMinor,
    '@gone/x',
    { '@shop/api': 'minor', '@shop/lib': 'minor' },
  ],
  [
    'an unknown package in a changeset',
    versioned,
    api,
    { ...apiMinor, '@shop/gone': 'patch' },
    '@shop/gone',
    '@shop/gone',
  ],
];

describe.each([2, 3] as const)('the bumps of Changesets %d are those of changeset status', (major) => {
  const root = folderForFile();
  const write = (path: string, content: object | string) => writeIn(root, path, content);
  write('package.json', { name: 'shop', private: true, workspaces: ['packages/*'] });
  write('package-lock.json', '{}');
  write('.gitignore', 'node_modules');
  write('packages/lib/package.json', lib);
  mkdirSync(join(root, 'node_modules/@changesets'), { recursive: true });
  symlinkSync(commands[major], join(root, 'node_modules/@changesets/cli'));
  commitFirst(root);

  test.each(rows)('%s', async (_, settings, manifest, changeset, in2, in3) => {
    write('.changeset/config.json', { baseBranch: 'main', ...settings });
    write('packages/api/package.json', manifest);
    const lines = Object.entries(changeset).map(([name, bump]) => `"${name}": ${bump}`);
    write('.changeset/one.md', ['---', ...lines, '---', '', 'A change.', ''].join('\n'));
    const declared = await readDeclaredBumps(root).then(
      (bumps) => shown([...bumps]),
      (error: unknown) => String(error),
    );
    const output = join(root, 'status.json');
    rmSync(output, { force: true });
    const args = [join(commands[major], 'bin.js'), 'status', '--output', 'status.json'];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    const status = existsSync(output) ? bumpsIn(readFileSync(output, 'utf8')) : stdout + stderr;
    const expected = major === 2 ? in2 : in3;
    const text = typeof expected === 'string' ? expected : shown(Object.entries(expected));
    expect({ declared, status }).toEqual({
      declared: expect.stringContaining(text),
      status: expect.stringContaining(text),
    });
  });
});

function bumpsIn(status: string): string {
  const { releases }: { releases: { name: string; type: string }[] } = JSON.parse(status);
  return shown(releases.map(({ name, type }) => [name, type]));
}

function shown(bumps: readonly (readonly [name: string, bump: string])[]): string {
  const lines = bumps.filter(([, bump]) => bump !== 'none').map((each) => each.join(': '));
  return `{ ${lines.toSorted().join(', ')} }`;
}
