import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { folderForFile, writeIn } from '../../test/support/folders.ts';
import { run } from './run.ts';

const folder = folderForFile();
const file = (name: string, text: string | Uint8Array) => writeIn(folder, name, text);

const oldSdl = file('old.graphql', 'type Query { a: String b: Int }');
const newSdl = file('new.graphql', 'type Query { a: String! }');
const oldSchema = file('old.json', '{ "type": "string", "enum": ["a"] }');
const newSchema = file('new.json', '{ "type": "string", "enum": ["a", "b"] }');
const oldManifest = file('old.manifest.json', '{ "limits": { "depth": 10 } }');
const newManifest = file('new.manifest.json', '{ "limits": { "depth": 20 } }');

const graphql = ['graphql', '--from', oldSdl, '--to', newSdl];
const jsonSchema = ['json-schema', '--from', oldSchema, '--to', newSchema, '--direction', 'producer'];
const manifest = ['manifest', '--from', oldManifest, '--to', newManifest];

const branch = (kind: string, rest = ''): string =>
  `{ "type": "object", "properties": { "kind": { "const": "${kind}" } }, "required": ["kind"]${rest} }`;

const shape = (name: string, a: string): string =>
  `{ "type": "object", "properties": { "a": ${a}, "both": { "$ref": "#/$defs/both" } }, "required": ["a", "${name}"] }`;

const anyOf = (shapes: readonly string[], both: string): string =>
  `{ "title": "Shape", "anyOf": [${shapes.join(', ')}], "$defs": { "both": { "type": "${both}" } } }`;

describe('comparing two files', () => {
  test('prints the verdict, the changes with their places, and the notices as JSON', async () => {
    const { exitCode, stdout } = await run([...graphql, '--format', 'json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      verdict: 'major',
      changes: [
        {
          verdict: 'major',
          rule: 'graphql/fieldRemoved',
          coordinate: 'Query.b',
          message: 'The field was removed.',
          why: 'An operation that selects the field is no longer valid.',
          location: { file: newSdl, line: 1 },
          oldLocation: { file: oldSdl, line: 1 },
        },
        {
          verdict: 'minor',
          rule: 'graphql/outputNarrowed',
          coordinate: 'Query.a',
          message: 'The type changed from String to String!.',
          why: 'Clients that handle null still work, but the stronger guarantee cannot be withdrawn later.',
          location: { file: newSdl, line: 1 },
          oldLocation: { file: oldSdl, line: 1 },
        },
      ],
      notices: [],
    });
  });

  test.each([
    ['graphql', graphql, 'major'],
    ['json-schema', jsonSchema, 'minor'],
    ['json-schema, closed outputs', [...jsonSchema, '--closed-outputs'], 'major'],
    ['manifest', manifest, 'minor'],
  ])('%s exits 0 for every verdict when --declared is omitted', async (_, args, verdict) => {
    expect(await run(args)).toMatchObject({
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
  ])('--declared %s exits %i when the verdict is minor', async (declared, exitCode) => {
    expect(await run([...manifest, '--declared', declared])).toMatchObject({ exitCode });
    expect(await run([...manifest, '--declared', declared, '--format', 'json'])).toMatchObject({ exitCode });
  });

  test('prints the command that declares the bump, for the package of the new file', async () => {
    file('package.json', '{ "name": "@books/ledger-api", "packageManager": "yarn@4.9.1" }');
    file('.changeset/config.json', '{}');
    expect((await run([...manifest, '--declared', 'patch'])).stdout).toBe(
      [
        'Verdict: minor',
        '',
        '  minor  /limits/depth',
        '         depth changed from 10 to 20.',
        '         Every request that was within the limit still is.',
        `         ${newManifest}:1  manifest/limitLoosened`,
        '',
        'Failed: the changes need a minor bump, but only a patch bump is declared.',
        'To fix: pass --declared minor, and declare a minor bump of @books/ledger-api:',
        '  yarn changeset add --minor @books/ledger-api -m "Describe the change for your users"',
        '',
      ].join('\n'),
    );
  });

  test('a minor bump may break a package below 1.0.0', async () => {
    file('api/package.json', '{ "name": "@books/young-api", "version": "0.2.0" }');
    const args = [
      'graphql',
      '--from',
      oldSdl,
      '--to',
      file('api/new.graphql', 'type Query { a: String }'),
      '--declared',
    ];
    expect((await run([...args, 'minor'])).stdout).toContain('Verdict: major\n\n  major  Query.b\n');
    expect((await run([...args, 'minor'])).exitCode).toBe(0);
    const { exitCode, stdout } = await run([...args, 'patch']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('Failed: the changes need a minor bump, but only a patch bump is declared.');
    expect(stdout).toContain('To fix: pass --declared minor, and declare a minor bump of @books/young-api');
    // The version of a private package, which is not released.
    file('api/package.json', '{ "name": "@books/young-api", "version": "0.0.0" }');
    expect((await run([...args, 'minor'])).exitCode).toBe(1);
  });

  test('names the values that a oneOf rejects because several branches allow them', async () => {
    const branches = '[{ "type": "number" }, { "type": "integer" }]';
    const [from, to] = [file('any.json', `{ "anyOf": ${branches} }`), file('one.json', `{ "oneOf": ${branches} }`)];
    const { stdout } = await run(['json-schema', '--from', from, '--to', to, '--direction', 'consumer']);
    expect(stdout).toBe(
      [
        'Verdict: major',
        '',
        '  major  $',
        '         A value that matches several branches of oneOf is now invalid: integer.',
        '         A sender of a value that was accepted is rejected.',
        `         ${to}:1  json-schema/exclusive`,
        '',
        'No bump was declared, so nothing was enforced: pass --declared.',
        '',
      ].join('\n'),
    );
  });

  test.each(['github', 'markdown'])(
    'says in %s that nothing was enforced, unless a bump is declared',
    async (format) => {
      const args = ['graphql', '--from', oldSdl, '--to', oldSdl, '--format', format];
      const undeclared = 'No bump was declared, so nothing was enforced: pass --declared.';
      expect((await run(args)).stdout).toContain(`Verdict: none. ${undeclared}`);
      expect((await run([...args, '--declared', 'none'])).stdout).not.toContain('nothing was enforced');
    },
  );

  test('names an alternative by its title, or by the value of a required property', async () => {
    const [from, to] = [
      file('old-kinds.json', `{ "oneOf": [${branch('A')}, ${branch('B')}] }`),
      file('new-kinds.json', `{ "oneOf": [${branch('A')}, ${branch('C')}, ${branch('D', ', "title": "Dog"')}] }`),
    ];
    const { stdout } = await run(['json-schema', '--from', from, '--to', to, '--direction', 'producer']);
    expect(stdout).toContain('An alternative of type object (kind: "B") was removed.');
    expect(stdout).toContain('An alternative of type object (kind: "C") was added.');
    expect(stdout).toContain('An alternative of type object ("Dog") was added.');
  });

  test('names the alternatives in which something changed, by what only they have', async () => {
    const position = '{ "type": "object", "properties": { "z": true } }';
    const [from, to] = [
      file(
        'old-shapes.json',
        anyOf([shape('c', '{ "type": "string" }'), shape('r', '{ "type": "string" }')], 'string'),
      ),
      file('new-shapes.json', anyOf([shape('c', '{ "type": "string" }'), shape('r', '{}'), position], 'boolean')),
    ];
    const { stdout } = await run(['json-schema', '--from', from, '--to', to, '--direction', 'producer']);
    expect(stdout).toContain('An alternative of type object (3 of 3) was added.');
    expect(stdout).toContain('Values of type boolean are now valid. Alternative: $ (requires r).');
    expect(stdout).toContain('Values of type boolean are now valid. Alternatives: $ (requires c), $ (requires r).');
  });

  test('--directive sets the verdict of a directive', async () => {
    const sdl = 'directive @internal on FIELD_DEFINITION type Query { a: String }';
    const applied = sdl.replace('a: String', 'a: String @internal');
    const args = ['graphql', '--from', file('a.graphql', sdl), '--to', file('b.graphql', applied)];
    expect((await run([...args, '--declared', 'patch'])).exitCode).toBe(1);
    expect((await run([...args, '--declared', 'patch', '--directive', '@internal=patch'])).exitCode).toBe(0);
  });

  test('ignores a byte order mark', async () => {
    const marked = file('marked.json', `\uFEFF{ "type": "string", "enum": ["a"] }`);
    expect((await run(['json-schema', '--from', oldSchema, '--to', marked, '--direction', 'both'])).stdout).toBe(
      'Verdict: none\nNo bump was declared, so nothing was enforced: pass --declared.\n',
    );
    const sdl = file('marked.graphql', `\uFEFFtype Query { a: String b: Int }`);
    expect((await run(['graphql', '--from', oldSdl, '--to', sdl])).stdout).toMatch(/^Verdict: none\n/);
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
    [['changelog', '--help']],
    [['uses', '--help']],
    [['explain', '--help']],
    [['find', '--help']],
  ])('%j prints a usage text', async (args) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: contract-check /);
    expect(stdout.split('\n').every((line) => line.length <= 120)).toBe(true);
  });

  test('explain --list prints each rule with its verdicts, by kind of contract', async () => {
    const { exitCode, stdout } = await run(['explain', '--list']);
    expect(await run(['explain'])).toMatchObject({ exitCode, stdout });
    expect(exitCode).toBe(0);
    expect(stdout.split('\n').filter((line) => /^\S|fieldRemoved|nullAdded/.test(line))).toEqual([
      'GraphQL',
      '  graphql/fieldRemoved                 major          a field is removed, deprecated or not',
      'JSON Schema (producer / consumer)',
      '  json-schema/nullAdded                major / minor  null becomes valid, in any notation',
      'Manifest',
      'API report',
      'Append-only file',
      'Versions of a package',
    ]);
    expect(stdout.match(/^  \S+\/\S+ /gm)).toHaveLength(185);
  });

  test('explain prints the page of a rule, with examples from the corpus', async () => {
    const { exitCode, stdout } = await run(['explain', 'graphql/enumValueRemovedOutput']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`# graphql/enumValueRemovedOutput

GraphQL: a value is removed from an enum that is only output.

**major**: A client that waits for the value never receives it, and code that names it no longer compiles.

## Examples

### a value is removed from an output enum

A client that waits for it never receives it.

Old:

\`\`\`graphql
enum E { A B } type Query { e: E }
\`\`\`

New:

\`\`\`graphql
enum E { A } type Query { e: E }
\`\`\`

## Change the verdict

Add an override to \`contract-check.json\`. Every run reports it with its reason.

\`\`\`json
{
  "overrides": [
    {
      "rule": "graphql/enumValueRemovedOutput",
      "coordinate": "THE.COORDINATE",
      "verdict": "minor",
      "reason": "Why your clients are not affected."
    }
  ]
}
\`\`\`
`);
  });

  test.each([
    ['json-schema/nullAdded', 'You send what the schema describes (producer): **major**. A receiver gets a value'],
    ['graphql/enumValueAddedClosed', 'With `--closed-outputs`.'],
    ['graphql/interfaceAbandoned', '### an interface no longer implements another interface\n'],
    ['version/versionWithdrawn', 'List a necessary exception in `contract-exceptions.json`'],
  ])('explain %s prints: %s', async (rule, text) => {
    const { stdout } = await run(['explain', rule]);
    expect(stdout).toContain(text);
  });

  test('--version prints the version', async () => {
    expect(await run(['--version'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('output', () => {
  const hostile = '\u202Egnp.exe\u200B\u001B[2J\u009B\uFE0F';
  const property = file('property.json', JSON.stringify({ type: 'object', properties: { [hostile]: {} } }));
  const none = file('none.json', '{ "type": "object" }');
  const compared = ['json-schema', '--from', property, '--to', none, '--direction', 'producer'];

  test.each(['text', 'json', 'markdown', 'github', 'junit', 'sarif'])(
    'shows what could rewrite a terminal as escapes, as %s',
    async (format) => {
      const { stdout } = await run([...compared, '--format', format]);
      expect(stdout).toContain(String.raw`\u202egnp.exe\u200b`);
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
    },
  );

  test('of invalid input too', async () => {
    const { stderr } = await run(['graphql', '--from', hostile, '--to', newSdl]);
    expect(stderr).toContain(String.raw`\u202egnp.exe\u200b\u001b[2J\u009b`);
  });

  test('ends quietly when its reader has gone', async () => {
    const bin = join(import.meta.dirname, '../bin.ts');
    const command = `("${process.execPath}" "${bin}" explain --list; echo "exit code $?" >&2) | true`;
    const { stderr } = await promisify(execFile)('sh', ['-c', command]);
    expect(stderr).toBe('exit code 141\n');
  });

  test.skipIf(!existsSync('/dev/full'))('says that it cannot be written', async () => {
    const bin = join(import.meta.dirname, '../bin.ts');
    const command = `"${process.execPath}" "${bin}" explain --list > /dev/full`;
    await expect(promisify(execFile)('sh', ['-c', command])).rejects.toMatchObject({
      code: 2,
      stderr: 'contract-check: the output cannot be written: ENOSPC: no space left on device, write\n',
    });
  });
});

describe('invalid usage', () => {
  test.each([
    [['grahql'], "contract-check: unknown command 'grahql' (Did you mean graphql?)."],
    [['graphql'], 'contract-check graphql: --from is required.'],
    [['graphql', '--from', oldSdl], 'contract-check graphql: --to is required.'],
    [['graphql', '--from'], "contract-check graphql: option '--from <place>' argument missing."],
    [['graphql', '--form', 'x'], "contract-check graphql: unknown option '--form' (Did you mean --from?)."],
    [[...graphql, 'x'], "contract-check graphql: too many arguments for 'graphql'. Expected 0 arguments but got 1: x."],
    [
      [...graphql, '--format', 'xml'],
      "contract-check graphql: option '--format <format>' argument 'xml' is invalid. Allowed choices are text, json, github, sarif, markdown, junit.",
    ],
    [
      [...graphql, '--declared', 'huge'],
      "contract-check graphql: option '--declared <bump>' argument 'huge' is invalid. Allowed choices are none, patch, minor, major.",
    ],
    [
      [...graphql, '--directive', 'tag'],
      "contract-check graphql: option '--directive <name=verdict>' argument 'tag' is invalid. It must be NAME=VERDICT, where the verdict is none, patch, minor, major.",
    ],
    [jsonSchema.slice(0, 5), 'contract-check json-schema: --direction is required.'],
    [
      [...jsonSchema.slice(0, 5), '--direction', 'up'],
      "contract-check json-schema: option '--direction <direction>' argument 'up' is invalid. Allowed choices are producer, consumer, both.",
    ],
    [
      ['workspace', '--today', 'now'],
      "contract-check workspace: option '--today <day>' argument 'now' is invalid. It must be YYYY-MM-DD.",
    ],
    [
      ['explain', 'graphql/feldRemoved'],
      'contract-check explain: unknown rule "graphql/feldRemoved" (did you mean "graphql/fieldRemoved"?).',
    ],
    [
      ['explain', 'fieldRemoved'],
      'contract-check explain: unknown rule "fieldRemoved" (did you mean "graphql/fieldRemoved"?).',
    ],
    [
      ['explain', 'defaultAded'],
      'contract-check explain: unknown rule "defaultAded" (did you mean "graphql/defaultAdded" or "json-schema/defaultAdded"?).',
    ],
    [['explain', '--list', 'graphql/fieldRemoved'], 'contract-check explain: pass a rule or --list, not both.'],
    [['graphql', '--from', '-', '--to', '-'], 'contract-check graphql: only one of --from and --to can be -.'],
  ])('%j exits 2 with one line', async (args, message) => {
    const { exitCode, stdout, stderr } = await run(args);
    const [name] = /^contract-check(?: [a-z-]+)?(?=:)/.exec(message) ?? [];
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `${message} See ${name} --help.\n`,
    });
  });
});

describe('invalid input', () => {
  test.each([
    ['nowhere.graphql', null, ': file not found'],
    ['empty.graphql', '', ':1: the file is empty'],
    ['broken.graphql', 'type Query {\n  a:\n}', ':3: Syntax Error'],
    ['latin1.graphql', Uint8Array.of(0x22, 0xe9, 0x22), ': is not valid UTF-8'],
  ])('exits 2 and names the file: %s', async (name, text, message) => {
    const path = text === null ? join(folder, name) : file(name, text);
    const { exitCode, stdout, stderr } = await run(['graphql', '--from', oldSdl, '--to', path]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(path + message);
  });

  test('exits 2 when the file is a folder', async () => {
    expect(
      await run(['graphql', '--from', '-', '--to', folder], () => Buffer.from('type Query { a: Int }')),
    ).toMatchObject({
      exitCode: 2,
      stderr: `${folder}: is a folder. Add the path of the file: ${folder}/PATH\n`,
    });
  });
});
