import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// What a team without this workspace does: npm install of the packed package, with either major of graphql.

const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'contract-check-outside-'));
afterAll(() => rmSync(scratch, { recursive: true }));

// eslint-disable-next-line node/no-process-env -- the commands under test need the environment of whoever runs the tests
const environment = { ...process.env };

/** Folders on the PATH that the package manager did not put there. */
const path = (environment['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));

/** The oldest Node that the package promises to run on, where the machine has one. */
const node20 = path.map((folder) => join(folder, 'node')).find((file) => existsSync(file) && majorOf(file) === 20);

function majorOf(node: string): number {
  return Number(/^v(\d+)\./.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[1]);
}

function command(file: string, args: readonly string[], cwd: string): string {
  // A prepared npm configuration of the workspace must not reach into the empty folder.
  const env = { ...environment, PATH: path.join(delimiter) };
  return execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

let tarball = '';

beforeAll(() => {
  execFileSync('npx', ['-y', 'pnpm@12.21.0', 'run', 'build'], { cwd: packageFolder, env: environment });
  const packed = join(scratch, 'packed');
  mkdirSync(packed);
  execFileSync('npx', ['-y', 'pnpm@12.21.0', 'pack', '--pack-destination', packed], {
    cwd: packageFolder,
    env: environment,
  });
  tarball = join(packed, readdirSync(packed)[0] ?? '');
}, 120_000);

function install(graphql: string): string {
  const folder = mkdtempSync(join(scratch, 'consumer-'));
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
  command('npm', ['install', '--no-audit', '--no-fund', tarball, `graphql@${graphql}`], folder);
  writeFileSync(join(folder, 'old.graphql'), 'enum E { A B } type Query { e(x: Int = 1): E }');
  writeFileSync(join(folder, 'new.graphql'), 'enum E { A B C } type Query { e(x: Int = 1, y: Int): E! }');
  writeFileSync(
    join(folder, 'old.json'),
    '{ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }',
  );
  writeFileSync(join(folder, 'new.json'), '{ "type": "object", "properties": { "a": { "type": "string" } } }');
  writeFileSync(join(folder, 'old.manifest.json'), '{ "limits": { "depth": 10 } }');
  writeFileSync(join(folder, 'new.manifest.json'), '{ "limits": { "depth": 20 } }');
  return folder;
}

describe.each(['16', '17'])('with graphql %s', (graphql) => {
  let folder = '';
  beforeAll(() => {
    folder = install(graphql);
  }, 120_000);

  // graphql 17 itself wants Node 22.
  const node = graphql === '16' ? node20 : process.execPath;
  if (node === undefined) process.stdout.write('contract-check: no Node 20 on the PATH, its test is skipped\n');

  test.skipIf(node === undefined)('the commands run', () => {
    const bin = join(folder, 'node_modules/.bin/contract-check');
    const check = (...args: string[]): unknown =>
      JSON.parse(command(node ?? '', [bin, ...args, '--format', 'json'], folder));
    expect(check('graphql', '--from', 'old.graphql', '--to', 'new.graphql')).toMatchObject({ verdict: 'minor' });
    expect(check('json-schema', '--from', 'old.json', '--to', 'new.json', '--direction', 'producer')).toMatchObject({
      verdict: 'major',
    });
    expect(check('manifest', '--from', 'old.manifest.json', '--to', 'new.manifest.json')).toMatchObject({
      verdict: 'minor',
    });
  });

  test.skipIf(node === undefined)('the functions can be imported', () => {
    writeFileSync(
      join(folder, 'use.js'),
      `import { compareGraphql } from '@deedwire/contract-check';
       const sdl = (text) => ({ file: 'a.graphql', text });
       console.log(compareGraphql(sdl('type Query { a: Int }'), sdl('type Query { a: Int! }')).verdict);`,
    );
    expect(command(node ?? '', ['use.js'], folder)).toBe('minor\n');
  });

  test('the tarball holds what it should, and no condition of the workspace', () => {
    const installed = join(folder, 'node_modules/@deedwire/contract-check');
    const names = readdirSync(installed).filter((name) => name !== 'node_modules');
    expect(names.toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'corpus',
      'dist',
      'manifest.schema.json',
      'package.json',
    ]);
    expect(readFileSync(join(installed, 'package.json'), 'utf8')).not.toMatch(/deedwire-source|catalog:|workspace:/);
    expect(
      readdirSync(join(installed, 'dist'), { recursive: true }).some((name) => String(name).includes('.test.')),
    ).toBe(false);
  });
});
