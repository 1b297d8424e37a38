import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { run } from '../cli/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'contract-check-sources-'));
const write = (path: string, text: string): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const old = 'type Query {\n  a: Int\n  b: Int\n}\n';
const pages = new Map<string, Uint8Array | string>();
const server = createServer((request, response) => {
  const page = pages.get(request.url ?? '');
  response.writeHead(page === undefined ? 404 : 200).end(page ?? 'nothing here');
});
let origin = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  origin = `http://127.0.0.1:${address.port}`;
  write('api/package.json', '{ "name": "@books/ledger-api" }');
  write('api/schema.graphql', 'type Query {\n  a: Int\n}\n');
  write('old.graphql', old);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const to = join(folder, 'api/schema.graphql');

/** Compares an old version with `api/schema.graphql`. Returns the old place of the removed field, or the error. */
async function placeIn(from: string, readInput?: () => Uint8Array): Promise<unknown> {
  const { exitCode, stdout, stderr } = await run(
    ['graphql', '--from', from, '--to', to, '--format', 'json'],
    readInput,
  );
  if (exitCode === 2) return stderr.trimEnd();
  const { changes } = JSON.parse(stdout);
  expect(changes.map(({ coordinate }: { coordinate: string }) => coordinate)).toEqual(['Query.b']);
  return changes[0].oldLocation;
}

test('reads the standard input', async () => {
  expect(await placeIn('-', () => Buffer.from(old))).toEqual({ file: 'standard input', line: 3 });
  expect(await placeIn('-', () => Buffer.from('type'))).toBe(
    'standard input:1: Syntax Error: Expected Name, found <EOF>.',
  );
});

describe('a URL', () => {
  test('is fetched', async () => {
    pages.set('/schema.graphql', old);
    expect(await placeIn(`${origin}/schema.graphql`)).toEqual({ file: `${origin}/schema.graphql`, line: 3 });
  });

  test('that cannot be fetched is named with the reason', async () => {
    expect(await placeIn(`${origin}/nowhere`)).toBe(`${origin}/nowhere: the server answered 404`);
    pages.set('/latin1', Uint8Array.of(0xe9));
    expect(await placeIn(`${origin}/latin1`)).toBe(`${origin}/latin1: is not valid UTF-8`);
    expect(await placeIn('http://127.0.0.1:1/')).toMatch(/^http:\/\/127\.0\.0\.1:1\/: cannot be fetched \(.+\)$/);
  });
});

const git = (...args: string[]): void => {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'pipe' });
};

describe('a commit', () => {
  beforeAll(() => {
    git('init', '--quiet');
    writeFileSync(join(folder, 'api/schema.graphql'), old);
    write('events/part.json', '{ "$defs": { "name": { "type": "string" } } }');
    write('events/root.json', '{\n  "properties": { "name": { "$ref": "part.json#/$defs/name" } }\n}');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Release');
    writeFileSync(join(folder, 'api/schema.graphql'), 'type Query {\n  a: Int\n}\n');
  });

  test('is read by git', async () => {
    expect(
      await inFolder(['graphql', '--from', 'git:HEAD:api/schema.graphql', '--to', 'api/schema.graphql']),
    ).toContain('major  Query.b');
  });

  test('gives a schema the files that it refers to', async () => {
    write('events/part.json', '{ "$defs": { "name": { "type": ["string", "null"] } } }');
    const args = ['--direction', 'producer', '--from', 'git:HEAD:./events/root.json', '--to', 'events/root.json'];
    expect(await inFolder(['json-schema', ...args])).toContain('major  $.name\n         Null is now valid.');
  });

  test.each([
    ['git:HEAD:nowhere.graphql', "git:HEAD:nowhere.graphql: path 'nowhere.graphql' does not exist in 'HEAD'"],
    ['git:v9:schema.graphql', "git:v9:schema.graphql: invalid object name 'v9'."],
    ['git:--output=x:a', 'git:--output=x:a: must be git:REF:PATH'],
    ['git:HEAD', 'git:HEAD: must be git:REF:PATH'],
  ])('that does not have the file is named: %s', async (from, message) => {
    expect(await inFolder(['graphql', '--from', from, '--to', to])).toBe(`${message}\n`);
  });
});

/** Runs the command in the folder, because git resolves places from the current folder. */
async function inFolder(args: readonly string[]): Promise<string> {
  const bin = new URL('../bin.ts', import.meta.url).pathname;
  try {
    return execFileSync(process.execPath, ['--conditions=deedwire-source', bin, ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    return error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  }
}

const useRegistry = (): void => {
  vi.stubEnv('npm_config_registry', origin);
  vi.stubEnv('npm_config_cache', join(folder, 'cache'));
  vi.stubEnv('npm_config_fetch_retries', '0');
};

describe('a published package', () => {
  beforeAll(() => {
    write('published/package/package.json', '{ "name": "@books/ledger-api", "version": "1.2.0" }');
    write('published/package/schema.graphql', old);
    write('published/package/other.graphql', old);
    create({ file: join(folder, 'api.tgz'), gzip: true, sync: true, cwd: join(folder, 'published') }, ['package']);
    const tarball = readFileSync(join(folder, 'api.tgz'));
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: `${origin}/api.tgz`, integrity };
    pages.set('/api.tgz', tarball);
    pages.set(
      '/@books%2fledger-api',
      JSON.stringify({
        name: '@books/ledger-api',
        'dist-tags': { latest: '1.2.0' },
        versions: { '1.2.0': { name: '@books/ledger-api', version: '1.2.0', dist } },
      }),
    );
  });

  test('is downloaded by npm, and has the file at the same path as the other side', async () => {
    useRegistry();
    const file = 'npm:@books/ledger-api@^1:schema.graphql';
    expect(await placeIn('npm:@books/ledger-api@^1')).toEqual({ file, line: 3 });
  });

  test('has the file at a given path', async () => {
    useRegistry();
    const file = 'npm:@books/ledger-api@latest:other.graphql';
    expect(await placeIn(file)).toEqual({ file, line: 3 });
  });

  test.each([
    ['npm:@books/ledger-api@latest:lost.graphql', 'npm:@books/ledger-api@latest:lost.graphql: file not found'],
    [
      'npm:@books/ledger-api@9',
      'npm:@books/ledger-api@9: npm cannot download the package. Check its name, its range and the registry.',
    ],
    ['npm:../x', 'npm:../x: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
    ['npm:a;b', 'npm:a;b: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
  ])('that is missing or invalid is named: %s', async (from, message) => {
    useRegistry();
    expect(await placeIn(from)).toBe(message);
  });

  test('needs a path if the other side is not a file', async () => {
    const args = ['graphql', '--from', 'npm:@books/ledger-api', '--to', '-'];
    expect((await run(args, () => Buffer.from(old))).stderr).toBe(
      'npm:@books/ledger-api: add the path of the file in the package: npm:@books/ledger-api:PATH\n',
    );
  });
});
