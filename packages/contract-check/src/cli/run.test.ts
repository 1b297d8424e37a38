import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { run } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'contract-check-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const oldSdl = file('old.graphql', 'type Query { a: String b: Int }');
const newSdl = file('new.graphql', 'type Query { a: String! }');
const oldSchema = file('old.json', '{ "type": "string", "enum": ["a"] }');
const newSchema = file('new.json', '{ "type": "string", "enum": ["a", "b"] }');
const oldManifest = file('old.manifest.json', '{ "limits": { "depth": 10 } }');
const newManifest = file('new.manifest.json', '{ "limits": { "depth": 20 } }');

const graphql = ['graphql', '--from', oldSdl, '--to', newSdl];
const jsonSchema = ['json-schema', '--from', oldSchema, '--to', newSchema, '--direction', 'producer'];
const manifest = ['manifest', '--from', oldManifest, '--to', newManifest];

describe('comparing two files', () => {
  test('prints only the verdict and the changes as JSON', () => {
    const { exitCode, stdout } = run([...graphql, '--format', 'json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      verdict: 'major',
      changes: [
        {
          verdict: 'major',
          rule: 'fieldRemoved',
          coordinate: 'Query.b',
          message: 'The field was removed.',
          why: 'An operation that selects the field is no longer valid.',
        },
        {
          verdict: 'minor',
          rule: 'outputNarrowed',
          coordinate: 'Query.a',
          message: 'The type changed from String to String!.',
          why: 'Clients that handle null still work, but the stronger guarantee cannot be withdrawn later.',
        },
      ],
    });
  });

  test.each([
    ['graphql', graphql, 'major'],
    ['json-schema', jsonSchema, 'minor'],
    ['json-schema, closed outputs', [...jsonSchema, '--closed-outputs'], 'major'],
    ['manifest', manifest, 'minor'],
  ])('%s exits 0 for every verdict when --declared is omitted', (_, args, verdict) => {
    expect(run(args)).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: expect.stringContaining(`Verdict: ${verdict}\n`),
    });
  });

  test.each([
    ['none', 1],
    ['patch', 1],
    ['minor', 0],
    ['major', 0],
  ])('--declared %s exits %i when the verdict is minor', (declared, exitCode) => {
    expect(run([...manifest, '--declared', declared])).toMatchObject({ exitCode });
    expect(run([...manifest, '--declared', declared, '--format', 'json'])).toMatchObject({ exitCode });
  });

  test('prints the command that declares the bump, for the package of the new file', () => {
    file('package.json', '{ "name": "@books/ledger-api" }');
    expect(run([...manifest, '--declared', 'patch']).stdout).toBe(
      [
        'Verdict: minor',
        '',
        '  minor  /limits/depth',
        '         depth changed from 10 to 20.',
        '         Every request that was within the limit still is.',
        '',
        'Failed: the changes need a minor bump, but only a patch bump is declared.',
        'To fix: declare a minor bump of @books/ledger-api:',
        '  pnpm changeset add --minor @books/ledger-api -m "Describe the change for your users"',
        '',
      ].join('\n'),
    );
  });

  test('--directive sets the verdict of a directive', () => {
    const sdl = 'directive @internal on FIELD_DEFINITION type Query { a: String }';
    const applied = sdl.replace('a: String', 'a: String @internal');
    const args = ['graphql', '--from', file('a.graphql', sdl), '--to', file('b.graphql', applied)];
    expect(run([...args, '--declared', 'patch']).exitCode).toBe(1);
    expect(run([...args, '--declared', 'patch', '--directive', '@internal=patch']).exitCode).toBe(0);
  });

  test('ignores a byte order mark', () => {
    const marked = file('marked.json', `\uFEFF{ "type": "string", "enum": ["a"] }`);
    expect(run(['json-schema', '--from', oldSchema, '--to', marked, '--direction', 'both']).stdout).toBe(
      'Verdict: none\n',
    );
    const sdl = file('marked.graphql', `\uFEFFtype Query { a: String b: Int }`);
    expect(run(['graphql', '--from', oldSdl, '--to', sdl]).stdout).toBe('Verdict: none\n');
  });
});

describe('help and version', () => {
  test.each([
    [['--help']],
    [['-h']],
    [['help']],
    [['help', 'graphql']],
    [['graphql', '--help']],
    [['json-schema', '--help']],
    [['manifest', '--help']],
    [['workspace', '--help']],
  ])('%j prints a usage text', (args) => {
    const { exitCode, stdout, stderr } = run(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: contract-check /);
    expect(stdout.split('\n').every((line) => line.length <= 120)).toBe(true);
  });

  test('--version prints the version', () => {
    expect(run(['--version'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('invalid usage', () => {
  test.each([
    [[], 'no command given'],
    [['diff'], 'unknown command "diff"'],
    [['graphql'], '--from is required'],
    [['graphql', '--from', oldSdl], '--to is required'],
    [['graphql', '--from'], 'argument missing'],
    [[...graphql, '--form', 'x'], "Unknown option '--form'"],
    [[...graphql, 'x'], "Unexpected argument 'x'"],
    [[...graphql, '--format', 'xml'], '--format must be text or json, not "xml"'],
    [[...graphql, '--declared', 'huge'], '--declared must be none, patch, minor or major, not "huge"'],
    [[...graphql, '--directive', 'tag'], '--directive must be NAME=VERDICT, not "tag"'],
    [jsonSchema.slice(0, 5), '--direction is required'],
    [[...jsonSchema.slice(0, 5), '--direction', 'up'], '--direction must be producer, consumer or both, not "up"'],
    [['workspace', '--declared', 'minor'], "Unknown option '--declared'"],
  ])('%j exits 2 with %j', (args, message) => {
    const { exitCode, stdout, stderr } = run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('Usage: contract-check');
  });
});

describe('invalid input', () => {
  test.each([
    ['nowhere.graphql', null, ': file not found'],
    ['empty.graphql', '', ':1: the file is empty'],
    ['broken.graphql', 'type Query {\n  a:\n}', ':3: Syntax Error'],
    ['latin1.graphql', Uint8Array.of(0x22, 0xe9, 0x22), ': is not valid UTF-8'],
  ])('exits 2 and names the file: %s', (name, text, message) => {
    const path = text === null ? join(folder, name) : file(name, text);
    const { exitCode, stdout, stderr } = run(['graphql', '--from', oldSdl, '--to', path]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(path + message);
  });

  test('exits 2 when the file is a folder', () => {
    expect(run(['graphql', '--from', oldSdl, '--to', folder])).toMatchObject({
      exitCode: 2,
      stderr: `${folder}: is a folder, not a file\n`,
    });
  });
});
