import { rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { create } from 'tar';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startContractServer, type ContractServer } from '../../test/support/contract-server.ts';
import { folderForFile, writeIn } from '../../test/support/folders.ts';
import { commitAll, git, initRepository } from '../../test/support/git.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';
import type { Change } from '../change.ts';
import { run } from '../cli/run.ts';

const folder = folderForFile();
const write = (path: string, text: string) => writeIn(folder, path, text);
const old = 'type Query {\n  a: Int\n  b: Int\n}\n';
let server: ContractServer;
let origin = '';

beforeAll(async () => {
  server = await startContractServer(old);
  ({ origin } = server);
  write('api/package.json', '{ "name": "@books/ledger-api" }');
  write('api/schema.graphql', 'type Query {\n  a: Int\n}\n');
  write('old.graphql', old);
});
afterAll(() => server.close());
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
    server.pages.set('/schema.graphql', old);
    expect(await placeIn(`${origin}/schema.graphql`)).toEqual({ file: `${origin}/schema.graphql`, line: 3 });
  });

  test('that cannot be fetched is named with the reason', async () => {
    expect(await placeIn(`${origin}/nowhere`)).toBe(
      `${origin}/nowhere: the server answered 404 to a GET request, and 404 (nothing here) to an introspection query. Pass the URL of a schema, or of a GraphQL server that allows introspection.`,
    );
    server.pages.set('/latin1', Uint8Array.of(0xe9));
    expect(await placeIn(`${origin}/latin1`)).toBe(`${origin}/latin1: is not valid UTF-8`);
    expect(await placeIn('http://127.0.0.1:1/')).toMatch(/^http:\/\/127\.0\.0\.1:1\/: cannot be fetched \(.+\)$/);
  });
});

describe('a server that responds to GET with something else than a schema', () => {
  afterEach(() => {
    server.greeting = null;
  });

  test.each([
    ['its health', 'application/json', '{"status":"ok"}'],
    ['a text', 'text/plain', 'GraphQL server is running'],
    ['nothing', 'text/plain', ''],
    ['an error', 'application/json', '{"errors":[{"message":"Must provide query string."}]}'],
    ['a page', 'TEXT/HTML', '<html></html>'],
    ['a page in XML', 'application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"></html>'],
    ['an operation', 'text/plain', '{ ledger { id } }'],
  ])('is asked with an introspection query: %s', async (_, type, text) => {
    server.greeting = { type, text };
    const { exitCode, stdout } = await run(['graphql', '--from', `${origin}/graphql`, '--to', `${origin}/graphql`]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('Verdict: none') });
  });

  test('names the problem if it refuses that as well', async () => {
    server.greeting = { type: 'text/plain', text: 'type Query {' };
    server.allows = () => false;
    expect(await placeIn(`${origin}/graphql`)).toContain(
      'the server answered 200 without a schema (Syntax Error: Expected Name, found <EOF>.) to a GET request, and 400 (',
    );
    server.allows = () => true;
  });
});

/** Compares the schema of the server with itself. */
const compareOwn = (...args: string[]): ReturnType<typeof run> =>
  run(['graphql', '--from', `${origin}/graphql`, '--to', `${origin}/graphql`, ...args], undefined, {
    API_TOKEN: 'Bearer secret\n',
    BROKEN: 'a\nb',
  });

describe('a server that demands credentials', () => {
  beforeAll(() => {
    server.authorization = 'Bearer secret';
  });
  afterAll(() => {
    server.authorization = null;
  });

  test('is named with the option', async () => {
    expect(await compareOwn()).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'and 401 ({"errors":[{"message":"Unauthorized"}]}) to an introspection query. It demands credentials: pass --header NAME=VARIABLE',
      ),
    });
  });

  test('gets the header with the value of a variable', async () => {
    expect(await compareOwn('--header', 'authorization=API_TOKEN')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test.each([
    ['an unset variable', 'authorization=LOST', 'the variable LOST is not set to a line of ASCII text'],
    ['a value that no header can have', 'authorization=BROKEN', 'the variable BROKEN is not set to a line'],
    ['a value in place of a variable', 'authorization=Bearer secret', 'It must be NAME=VARIABLE'],
  ])('gets nothing for %s', async (_, header, message) => {
    const { exitCode, stderr } = await compareOwn('--header', header);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
  });

  test('does not lead to another server, which would get them', async () => {
    const other = createServer((_, response) => response.writeHead(302, { location: `${origin}/graphql` }).end());
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    const args = ['graphql', '--from', url, '--to', url, '--header', 'authorization=API_TOKEN'];
    const { exitCode, stderr } = await run(args, undefined, { API_TOKEN: 'Bearer secret' });
    other.close();
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('the server answered 302') });
  });
});

describe('a GraphQL server', () => {
  afterEach(() => {
    server.allows = () => true;
  });

  test('is asked for its schema, which has no lines', async () => {
    expect(await placeIn(`${origin}/graphql`)).toEqual({ file: `${origin}/graphql`, line: null });
  });

  test('of an older specification is asked for less', async () => {
    server.allows = (query) => !query.includes('specifiedByURL');
    expect(await placeIn(`${origin}/graphql`)).toEqual({ file: `${origin}/graphql`, line: null });
  });

  test('that does not allow introspection is named with its answer', async () => {
    server.allows = () => false;
    expect(await placeIn(`${origin}/graphql`)).toBe(
      `${origin}/graphql: the server answered 400 to a GET request, and 400 ({"errors":[{"message":"No."}]}) to an introspection query. Pass the URL of a schema, or of a GraphQL server that allows introspection.`,
    );
  });
});

describe('an introspection result', () => {
  const result = introspectionFromSchema(buildSchema(old));

  test.each([
    ['as a response', { data: result }],
    ['alone', result],
  ])('is a schema: %s', async (_, value) => {
    write('old.json', JSON.stringify(value));
    expect(await placeIn(join(folder, 'old.json'))).toEqual({ file: join(folder, 'old.json'), line: null });
  });

  test('is compared without the directives that it does not show', async () => {
    write('old.json', JSON.stringify(result));
    write('tagged.graphql', 'type Query @tag(name: "x") {\n  a: Int @deprecated\n  b: Int @tag(name: "y")\n}\n');
    const files = ['--from', join(folder, 'old.json'), '--to', join(folder, 'tagged.graphql')];
    const { stdout } = await run(['graphql', ...files, '--format', 'json']);
    const { changes, notices } = JSON.parse(stdout);
    expect(changes.map(({ rule }: { rule: string }) => rule)).toEqual(['graphql/deprecated']);
    expect(notices.map(({ message }: { message: string }) => message)).toEqual([
      'An introspection result does not show applied directives such as @tag, so they are not compared.',
    ]);
  });

  test.each([
    ['{ "data": null }', ':1: expected SDL or the result of an introspection query, with /data/__schema'],
    ['{ "__schema": { "types": [] } }', ': '],
    ['{ "a" ', ":1: is not JSON: Expected ':' after property name"],
  ])('that is invalid is named: %s', async (text, message) => {
    write('old.json', text);
    expect(await placeIn(join(folder, 'old.json'))).toContain(`${join(folder, 'old.json')}${message}`);
  });
});

describe('several files', () => {
  test('are one schema, and each change is in its own file', async () => {
    write('parts/query.graphql', 'type Query {\n  a: Int\n}\n');
    write('parts/more/ledger.graphql', 'extend type Query {\n  ledger: Ledger\n}\ntype Ledger {\n  id: ID\n}\n');
    write('parts/notes.txt', 'no schema');
    const from = ['--from', join(folder, 'old.graphql')];
    for (const paths of [['parts/**/*.graphql'], ['parts/*.graphql', 'parts/more/ledger.graphql']]) {
      const places = paths.flatMap((place) => ['--to', join(folder, place)]);
      const { changes } = JSON.parse((await run(['graphql', ...from, ...places, '--format', 'json'])).stdout);
      const found = changes.map(({ coordinate, location }: Change) => [coordinate, location.file, location.line]);
      expect(found).toEqual([
        ['Query.b', join(folder, 'parts/query.graphql'), 1],
        ['Ledger', join(folder, 'parts/more/ledger.graphql'), 4],
        ['Query.ledger', join(folder, 'parts/more/ledger.graphql'), 2],
      ]);
    }
  });

  test('that contradict each other are named', async () => {
    write('twice/a.graphql', 'type Query {\n  a: Int\n}\n');
    write('twice/b.graphql', '\ntype Query {\n  b: Int\n}\n');
    const { stderr } = await run(['graphql', '--from', to, '--to', join(folder, 'twice/*.graphql')]);
    expect(stderr).toBe(`${join(folder, 'twice/b.graphql')}:2: There can be only one type named "Query".\n`);
    expect(await placeIn(join(folder, 'none/*.graphql'))).toBe(`${join(folder, 'none/*.graphql')}: matches no file`);
  });

  test('are refused where one file is compared', async () => {
    const places = ['--from', join(folder, '*.json'), '--to', join(folder, '*.json')];
    write('1.json', '{}');
    write('2.json', '{}');
    expect((await run(['json-schema', '--direction', 'both', ...places])).stderr).toMatch(
      /^contract-check json-schema: --from matches \d files, but the command compares one\. See /,
    );
    expect((await run(['manifest', ...places, '--to', 'b.json'])).stderr).toContain('The command accepts it once.');
  });
});

test('reads the file at the same path in a folder and in a tarball', async () => {
  write('released/schema.graphql', old);
  write('packed/package/schema.graphql', old);
  const tarball = join(folder, 'old.tgz');
  create({ file: tarball, gzip: true, sync: true, cwd: join(folder, 'packed') }, ['package']);
  expect(await placeIn(join(folder, 'released'))).toEqual({ file: join(folder, 'released/schema.graphql'), line: 3 });
  expect(await placeIn(tarball)).toEqual({ file: `${tarball}:schema.graphql`, line: 3 });
  expect(await placeIn(`${tarball}:lost.graphql`)).toBe(`${tarball}:lost.graphql: file not found`);
});

test('a link to itself cannot be read', async () => {
  symlinkSync('loop.graphql', join(folder, 'loop.graphql'));
  const loop = join(folder, 'loop.graphql');
  expect(await placeIn(loop)).toBe(`${loop}: is a link that leads to itself`);
});

/** What comparing two places prints. */
const compared = (from: string, now: string, ...args: string[]) =>
  runInFolder(folder, ['graphql', '--from', from, '--to', now, ...args]);

describe('a commit', () => {
  beforeAll(() => {
    initRepository(folder);
    write('api/schema.graphql', old);
    write('events/part.json', '{ "$defs": { "name": { "type": "string" } } }');
    write('events/root.json', '{\n  "properties": { "name": { "$ref": "part.json#/$defs/name" } }\n}');
    commitAll(folder);
    write('api/schema.graphql', 'type Query {\n  a: Int\n}\n');
  });

  test('is read by git', async () => {
    expect(await compared('git:HEAD:api/schema.graphql', 'api/schema.graphql')).toContain('major  Query.b');
  });

  test('does not lack a file that has another path behind a link', async () => {
    symlinkSync('api', join(folder, 'current'));
    symlinkSync('api/schema.graphql', join(folder, 'current.graphql'));
    for (const path of ['current/schema.graphql', 'current.graphql'])
      expect(await compared('git:HEAD', path)).toBe(
        `${path}: is reached through a symbolic link. Pass the path of the file, api/schema.graphql\n`,
      );
  });

  test('has the files of a pattern, or those at the paths of the other side', async () => {
    for (const from of ['git:HEAD:api/*.graphql', 'git:HEAD'])
      expect(await compared(from, 'api/*.graphql', '--format', 'json')).toContain(
        '"file": "git:HEAD:api/schema.graphql"',
      );
  });

  test('gives a schema the files that it refers to', async () => {
    write('events/part.json', '{ "$defs": { "name": { "type": ["string", "null"] } } }');
    const args = ['--direction', 'producer', '--from', 'git:HEAD:./events/root.json', '--to', 'events/root.json'];
    expect(await runInFolder(folder, ['json-schema', ...args])).toContain('major  $.name\n         Null is now valid.');
  });

  test('that does not have the file yet, or whose file was deleted, gets a verdict', async () => {
    write('first.graphql', old);
    for (const from of ['git:HEAD', 'git:HEAD:first.graphql', 'git:HEAD:./first.graphql'])
      expect(await compared(from, 'first.graphql', '--declared', 'minor')).toMatch(
        /minor {2}first\.graphql\n +first\.graphql was added\.[^]*Passed: the declared bump is minor\./,
      );
    const deleted = ['json-schema', '--direction', 'both', '--from', 'git:HEAD', '--to', 'events/gone.json'];
    write('events/gone.json', '{}');
    git(folder, 'add', 'events/gone.json');
    git(folder, 'commit', '--quiet', '--message', 'Add a schema');
    rmSync(join(folder, 'events'), { recursive: true });
    expect(await runInFolder(folder, deleted)).toMatch(
      /major {2}events\/gone\.json\n +events\/gone\.json was removed\./,
    );
    git(folder, 'checkout', '--quiet', 'events');
    expect(await compared('git:HEAD', 'lost.graphql')).toContain('lost.graphql');
  });

  test('that has an invalid file is repaired in a major', async () => {
    write('repaired.graphql', 'type Query {');
    commitAll(folder);
    write('repaired.graphql', old);
    const output = await compared('git:HEAD', 'repaired.graphql');
    expect(output).toMatch(
      /^Verdict: major\n[^]*The old version cannot be compared: git:HEAD:repaired\.graphql:1: Syntax/,
    );
    write('repaired.graphql', 'type Query {');
    expect(await compared('git:HEAD', 'repaired.graphql')).toMatch(/^repaired\.graphql:1: Syntax/);
  });

  test.each(['submodule', 'link'])(
    'that has no files in a folder is an error, not an added contract: %s',
    async (kind) => {
      write('elsewhere/schema.graphql', old);
      initRepository(join(folder, 'elsewhere'));
      const commit = commitAll(join(folder, 'elsewhere'));
      const blob = git(folder, 'hash-object', '-w', 'old.graphql').trim();
      const entry = kind === 'submodule' ? `160000,${commit},${kind}` : `120000,${blob},${kind}`;
      git(folder, 'update-index', '--add', '--cacheinfo', entry);
      git(folder, 'commit', '--quiet', '--message', 'Add a folder');
      write(`${kind}/schema.graphql`, 'type Query {\n  a: Int\n}\n');
      for (const from of ['git:HEAD', `git:HEAD:${kind}/schema.graphql`])
        expect(await compared(from, `${kind}/schema.graphql`, '--declared', 'minor')).toBe(
          `git:HEAD:${kind}/schema.graphql: the commit has no files in ${kind}, which is a submodule or a symbolic link. Compare in the repository that contains the file.\n`,
        );
    },
  );

  test('that has the file at another path is named in a notice', async () => {
    git(folder, 'mv', 'old.graphql', 'moved.graphql');
    write('moved.graphql', `${old}# moved`);
    const output = await compared('git:HEAD', 'moved.graphql');
    git(folder, 'mv', 'moved.graphql', 'old.graphql');
    expect(output).toContain(
      'moved.graphql: old.graphql has a similar text and was moved here. To compare with it: --from git:HEAD:old.graphql',
    );
  });

  test.each([
    ['git:HEAD:nowhere.graphql', 'git:HEAD:nowhere.graphql: file not found'],
    ['git:v9:schema.graphql', 'git:v9: no such commit'],
    ['git:--output=x:a', 'git:--output=x: must be git:REF or git:REF:PATH'],
    ['git:HEAD:api/*.txt', 'git:HEAD:api/*.txt: matches no file'],
  ])('that does not have the file is named: %s', async (from, message) => {
    expect(await compared(from, to)).toBe(`${message}\n`);
  });
});

const useRegistry = (): void => {
  vi.stubEnv('npm_config_registry', origin);
  vi.stubEnv('npm_config_cache', join(folder, 'cache'));
  vi.stubEnv('npm_config_fetch_retries', '0');
};

describe('a published package', () => {
  beforeAll(() => {
    write('published/package/package.json', '{ "name": "@books/ledger-api", "version": "1.2.0" }');
    write('published/package/schema.graphql', old);
    create({ file: join(folder, 'api.tgz'), gzip: true, sync: true, cwd: join(folder, 'published') }, ['package']);
    server.publish('@books/ledger-api', '1.2.0', join(folder, 'api.tgz'));
  });

  test('is downloaded by npm', async () => {
    useRegistry();
    const file = 'npm:@books/ledger-api@^1:schema.graphql';
    expect(await placeIn(file)).toEqual({ file, line: 3 });
  });

  test.each([
    [
      'npm:@books/ledger-api@9',
      'npm:@books/ledger-api@9: npm cannot download the package. Check its name, its range and the registry.',
    ],
    ['npm:../x', 'npm:../x: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
    ['npm:a;b', 'npm:a;b: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
    ['npm:.', 'npm:.: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
    ['npm:--offline', 'npm:--offline: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
    ['npm:@books/ledger-api@../x', 'npm:@books/ledger-api@../x: must be npm:NAME@RANGE or npm:NAME@RANGE:PATH'],
  ])('that is missing or invalid is named: %s', async (from, message) => {
    useRegistry();
    expect(await placeIn(from)).toBe(message);
  });

  test('needs a path if the other side is not a file', async () => {
    const args = ['graphql', '--from', 'npm:@books/ledger-api', '--to', '-'];
    expect((await run(args, () => Buffer.from(old))).stderr).toBe(
      'npm:@books/ledger-api: add the path of the file: npm:@books/ledger-api:PATH\n',
    );
  });
});
