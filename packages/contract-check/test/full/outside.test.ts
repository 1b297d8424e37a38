import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Installs the packed package with npm outside this workspace, with each supported major of graphql.

const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'contract-check-outside-'));
afterAll(() => rmSync(scratch, { recursive: true }));

// eslint-disable-next-line node/no-process-env -- the commands under test need the environment of the test run
const environment = { ...process.env };

/** The folders on the PATH, without those that the package manager added. */
const path = (environment['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));

/** Node 20, the oldest supported version. Undefined if the machine does not have it. */
const node20 = path.map((folder) => join(folder, 'node')).find((file) => existsSync(file) && majorOf(file) === 20);

function majorOf(node: string): number {
  return Number(/^v(\d+)\./.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[1]);
}

function command(file: string, args: readonly string[], cwd: string): string {
  // The PATH of a shell outside the workspace.
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

  // graphql 17 requires Node 22.
  const node = graphql === '16' ? node20 : process.execPath;
  if (node === undefined)
    process.stdout.write('contract-check: skipped the tests with Node 20, which is not on the PATH\n');

  test.skipIf(node === undefined)('runs every command', () => {
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

  test.skipIf(node === undefined)('exports the functions', () => {
    writeFileSync(
      join(folder, 'use.js'),
      `import { compareGraphql } from '@deedwire/contract-check';
       const sdl = (text) => ({ file: 'a.graphql', text });
       console.log(compareGraphql(sdl('type Query { a: Int }'), sdl('type Query { a: Int! }')).verdict);`,
    );
    expect(command(node ?? '', ['use.js'], folder)).toBe('minor\n');
  });

  test('packs the expected files without settings of the workspace', () => {
    const installed = join(folder, 'node_modules/@deedwire/contract-check');
    const names = readdirSync(installed).filter((name) => name !== 'node_modules');
    expect(names.toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'api',
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
