import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { folderForTest, writeAllIn, writeIn } from '../../test/support/folders.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';
import { run } from '../cli/run.ts';

const sdl = `"""A date."""
scalar Date
directive @priority(level: Level!) on QUERY | FIELD
enum Level { HIGH LOW }
enum Kind { DEBIT CREDIT }
input Range { from: Date to: Date kinds: [Kind!] inner: Range }
input EntryInput { kind: Kind! amount: Int! = 0 note: String }
interface Node { id: ID! }
type Entry implements Node { id: ID! kind: Kind! amount(unit: String = "cent"): Int unused: Int }
type Transfer implements Node { id: ID! entries(first: Int, in: Range): [Entry!]! }
union Item = Entry | Transfer
type Query { node(id: ID!): Node items(kind: Kind): [Item!]! entry(id: ID!): Entry }
type Mutation { post(input: EntryInput!): Entry }
`;
const schema = 'node_modules/@books/ledger-schema/versions/2026-11-01.graphql';
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const digest = digestOf(sdl);
const eventSchema = (type: string, version: string): string =>
  JSON.stringify({ type: 'object', properties: { type: { const: type }, version: { const: version } } });

let folder = '';
beforeEach(() => {
  folder = folderForTest();
  file('node_modules/@books/ledger-schema/package.json', '{ "name": "@books/ledger-schema", "version": "1.4.0" }');
  file(schema, sdl);
});

const file = (path: string, text: string) => writeIn(folder, path, text);

/** Runs the command in the folder, and returns what it prints. */
function uses(...args: readonly string[]): Promise<string> {
  return runInFolder(folder, ['uses', '--consumer', 'portal', ...args]);
}

const withDocuments = ['--schema', schema, '--documents', 'src/**/*.graphql'];

describe('the uses of documents', () => {
  test('are coordinates with types, operations with variables, and the contract with its digest', async () => {
    file('src/b/items.graphql', 'query Items($in: Range, $unit: String) { items(kind: DEBIT) { ...Amount ...On } }');
    file('src/a/fragments.graphql', 'fragment On on Transfer { entries(in: $in) { __typename ...Amount } }');
    file('src/amount.graphql', 'fragment Amount on Entry { cents: amount(unit: $unit) }');
    const printed = await uses(...withDocuments);
    expect(printed).toMatch(/^\{\n[^]*\n\}\n$/);
    expect(JSON.parse(printed)).toEqual({
      formatVersion: 1,
      consumer: 'portal',
      pin: '2026-11-01',
      schema: [
        {
          package: '@books/ledger-schema',
          packageVersion: '1.4.0',
          file: 'versions/2026-11-01.graphql',
          sha256: digest,
        },
      ],
      coordinates: {
        Date: null,
        Entry: null,
        'Entry.amount': 'Int',
        'Entry.amount(unit:)': 'String',
        Kind: null,
        'Kind.CREDIT': null,
        'Kind.DEBIT': null,
        'Query.items': '[Item!]!',
        'Query.items(kind:)': 'Kind',
        Range: null,
        'Range.from': 'Date',
        'Range.inner': 'Range',
        'Range.kinds': '[Kind!]',
        'Range.to': 'Date',
        Transfer: null,
        'Transfer.entries': '[Entry!]!',
        'Transfer.entries(in:)': 'Range',
      },
      operations: [
        {
          name: 'Items',
          variables: { in: 'Range', unit: 'String' },
          text: [
            'query Items($in: Range, $unit: String) {\n  items(kind: DEBIT) {\n    ...Amount\n    ...On\n  }\n}',
            'fragment Amount on Entry {\n  cents: amount(unit: $unit)\n}',
            'fragment On on Transfer {\n  entries(in: $in) {\n    __typename\n    ...Amount\n  }\n}',
          ].join('\n\n'),
        },
      ],
      events: [],
    });
  });

  test.each([
    [
      'a literal has only its own input fields and values',
      'mutation A { post(input: { kind: DEBIT }) { id } }',
      ['EntryInput.kind', 'Entry.id', 'Kind.DEBIT', 'Mutation.post', 'Mutation.post(input:)'],
    ],
    [
      'a default value of a variable',
      'query A($k: [Kind!] = [CREDIT]) { items(kind: DEBIT) { __typename } x: entry(id: 1) { ... on Node { id } } node(id: 2) { ... on Transfer { entries(in: { kinds: $k }) { kind } } } }',
      [
        'Entry.kind',
        'Kind',
        'Kind.CREDIT',
        'Kind.DEBIT',
        'Node',
        'Node.id',
        'Query.entry',
        'Query.entry(id:)',
        'Query.items',
        'Query.items(kind:)',
        'Query.node',
        'Query.node(id:)',
        'Range.kinds',
        'Transfer',
        'Transfer.entries',
        'Transfer.entries(in:)',
      ],
    ],
    [
      'directives of the schema, and none of the specification',
      'query A($v: Boolean!) @priority(level: HIGH) { entry(id: 1) { id @include(if: $v) } }',
      ['@priority', '@priority(level:)', 'Entry.id', 'Level.HIGH', 'Query.entry', 'Query.entry(id:)'],
    ],
    [
      'no introspection',
      'query A($n: String!) { __typename __schema { types { name } } __type(name: $n) { fields(includeDeprecated: true) { name } } }',
      [],
    ],
    [
      'nothing of a fragment that no operation uses',
      'query A { entry(id: 1) { id } } fragment F on Entry { unused }',
      ['Entry.id', 'Query.entry', 'Query.entry(id:)'],
    ],
  ])('contain %s', async (_, text, expected) => {
    file('src/a.graphql', text);
    const { coordinates } = JSON.parse(await uses(...withDocuments));
    expect(Object.keys(coordinates)).toEqual(expected.toSorted());
  });

  test('do not depend on the names and the order of the files, and an unnamed operation has no name', async () => {
    const [one, two] = ['query A { entry(id: 1) { ...F } }', 'query B { entry(id: 1) { kind ...F } }'] as const;
    const fragment = 'fragment F on Entry { id ...G } fragment G on Entry { amount }';
    writeAllIn(folder, { 'src/1.graphql': one, 'src/2.graphql': two, 'src/3.graphql': fragment });
    const printed = await uses(...withDocuments);
    writeAllIn(folder, { 'src/1.graphql': fragment, 'src/2.graphql': two, 'src/3.graphql': one });
    expect(await uses(...withDocuments)).toBe(printed);
    file('src/1.graphql', '{ entry(id: 1) { id } }');
    const [operation] = JSON.parse(await uses('--schema', schema, '--documents', 'src/1.graphql')).operations;
    expect(operation).toEqual({ name: null, variables: {}, text: '{\n  entry(id: 1) {\n    id\n  }\n}' });
  });

  test('go to a file with --output, as they go to the standard output', async () => {
    file('src/a.graphql', 'query A { entry(id: "\u202E") { id } }');
    const printed = await uses(...withDocuments);
    expect(await uses(...withDocuments, '--output', 'dist/uses.json')).toBe('dist/uses.json\n');
    expect(readFileSync(join(folder, 'dist/uses.json'), 'utf8')).toBe(printed);
    expect(printed).toContain(String.raw`\u202e`);
    expect(await uses(...withDocuments, '--output', 'src/a.graphql/uses.json')).toMatch(
      /^src\/a\.graphql\/uses\.json: cannot be written \(E\w+\)\n$/,
    );
  });

  test('name no package and no version of a schema that has none', async () => {
    file('src/a.graphql', 'query A { entry(id: 1) { id } }');
    const args = ['uses', '--consumer', 'portal', '--documents', join(folder, 'src/a.graphql'), '--schema'];
    const { stdout } = await run([...args, '-'], () => Buffer.from(sdl));
    const none = { package: null, packageVersion: null, file: null, sha256: digest };
    expect(JSON.parse(stdout)).toMatchObject({ pin: null, schema: [none] });
  });

  test('name the package of a schema in a tarball', async () => {
    file('src/a.graphql', 'query A { entry(id: 1) { id } }');
    execFileSync('npm', ['pack', '--silent', './node_modules/@books/ledger-schema'], { cwd: folder });
    const place = 'books-ledger-schema-1.4.0.tgz:versions/2026-11-01.graphql';
    const { pin, schema: files } = JSON.parse(await uses('--documents', 'src/a.graphql', '--schema', place));
    const path = 'versions/2026-11-01.graphql';
    expect({ pin, files }).toEqual({
      pin: '2026-11-01',
      files: [{ package: '@books/ledger-schema', packageVersion: '1.4.0', file: path, sha256: digest }],
    });
  });

  test('contain a link to a file once', async () => {
    file('src/a.graphql', 'query A { entry(id: 1) { id } }');
    symlinkSync('a.graphql', join(folder, 'src/b.graphql'));
    expect(JSON.parse(await uses(...withDocuments)).operations).toHaveLength(1);
  });
});

describe('the events that a consumer handles', () => {
  test('are types and versions with the digests of their schemas', async () => {
    const [created, paid] = [eventSchema('entry.created', '2026-11-01'), eventSchema('entry.paid', '2027-02-01')];
    file('node_modules/@books/events/package.json', '{ "name": "@books/events", "version": "2.0.0" }');
    file('node_modules/@books/events/json-schema/entry.paid/2027-02-01.json', paid);
    file('node_modules/@books/events/json-schema/entry.created/2026-11-01.json', created);
    const printed = JSON.parse(
      await uses(
        ...['paid', 'created'].flatMap((name) => [
          '--events',
          `node_modules/@books/events/json-schema/entry.${name}/*.json`,
        ]),
      ),
    );
    const published = { package: '@books/events', packageVersion: '2.0.0' };
    expect(printed).toEqual({
      formatVersion: 1,
      consumer: 'portal',
      pin: null,
      schema: [],
      coordinates: {},
      operations: [],
      events: [
        {
          event: 'entry.created@2026-11-01',
          ...published,
          file: 'json-schema/entry.created/2026-11-01.json',
          sha256: digestOf(created),
        },
        {
          event: 'entry.paid@2027-02-01',
          ...published,
          file: 'json-schema/entry.paid/2027-02-01.json',
          sha256: digestOf(paid),
        },
      ],
    });
  });

  test('are those of schemas that state the type and the version', async () => {
    file(
      'event.json',
      '{\n  "properties": {\n    "type": { "const": "entry.paid" }, "version": { "type": "string" } } }',
    );
    expect(await uses('--events', 'event.json')).toBe(
      'event.json:3: /properties/version/const must be the version of the event, as a string\n',
    );
  });
});

describe('invalid input exits 2, and names the place', () => {
  test.each<[string, Record<string, string>, string]>([
    [
      'a syntax error',
      { 'src/a.graphql': 'query A {\n  entry(id: }' },
      'src/a.graphql:2:13: Syntax Error: Unexpected "}". The file is read as GraphQL.',
    ],
    [
      'an empty file',
      { 'src/a.graphql': '# none\n' },
      'src/a.graphql:2:1: Syntax Error: Unexpected <EOF>. The file is read as GraphQL.',
    ],
    [
      'an unknown field in a fragment of another file',
      {
        'src/a.graphql': 'query A { entry(id: 1) { ...F } }',
        'src/b.graphql': 'fragment F on Entry {\n  id\n  total\n}',
      },
      'src/b.graphql:3:3: Cannot query field "total" on type "Entry".',
    ],
    [
      'several problems',
      { 'src/a.graphql': 'query A { entry { id total } }' },
      'src/a.graphql:1:22: Cannot query field "total" on type "Entry". (and 1 more)',
    ],
    [
      'an operation name twice in a file',
      { 'src/a.graphql': 'query A { entry(id: 1) { id } }\nquery A { entry(id: 1) { id } }' },
      'src/a.graphql:1:7: There can be only one operation named "A". (also src/a.graphql:2:7)',
    ],
    [
      'a named and an unnamed operation in a file',
      { 'src/a.graphql': 'query A { entry(id: 1) { id } }\n{ entry(id: 1) { id } }' },
      'src/a.graphql:2:1: This anonymous operation must be the only defined operation.',
    ],
    [
      'a fragment that is missing',
      { 'src/a.graphql': 'query A { entry(id: 1) { ...F } }' },
      'src/a.graphql:1:29: Unknown fragment "F".',
    ],
    [
      'a fragment in itself',
      { 'src/a.graphql': 'query A { entry(id: 1) { ...F } } fragment F on Entry { ...F }' },
      'src/a.graphql:1:57: Cannot spread fragment "F" within itself.',
    ],
    [
      'a schema among the documents',
      { 'src/a.graphql': 'query A { entry(id: 1) { id } }\ntype A { b: Int }' },
      'src/a.graphql:2:1: Expected operations and fragments, found a definition of a schema.',
    ],
    [
      'only fragments',
      { 'src/a.graphql': 'fragment F on Entry { id }' },
      'src/**/*.graphql: the files contain fragments, but no operation',
    ],
    [
      'an operation with too many fields for graphql',
      { 'src/a.graphql': `{ entry(id: 1) { ${'id '.repeat(100_000)} } }` },
      'src/a.graphql:1:1: There are too many fields and fragments to check that those with the same response name can be merged. Remove repeated ones, or split the operation.',
    ],
    ['no file', {}, 'src/**/*.graphql: matches no file'],
    [
      'a file that is nested too deeply',
      { 'src/a.graphql': '{a'.repeat(100_000) },
      'src/a.graphql: is nested too deeply to be compared',
    ],
  ])('%s', async (_, files, message) => {
    writeAllIn(folder, files);
    expect(await uses(...withDocuments)).toBe(`${message}\n`);
    const args = ['--schema', join(folder, schema), '--documents', join(folder, 'src/**/*.graphql')];
    expect(await run(['uses', '--consumer', 'portal', ...args])).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test.each([
    ['a schema that does not exist', 'lost.graphql', 'lost.graphql: file not found'],
    [
      'a folder without a path',
      'node_modules',
      'node_modules: is a folder. Add the path of the file: node_modules/PATH',
    ],
    [
      'a package without a path',
      'npm:@books/ledger-schema@^1',
      'npm:@books/ledger-schema@^1: add the path of the file: npm:@books/ledger-schema@^1:PATH',
    ],
    ['a commit without a path', 'git:main', 'git:main: add the path of the file: git:main:PATH'],
    ['a schema with an unknown type', 'broken.graphql', 'broken.graphql:2: Unknown type "Lost".'],
    [
      'an invalid schema',
      'src/a.graphql',
      'src/a.graphql:1: expected a GraphQL schema, found an operation or fragment',
    ],
  ])('%s', async (_, place, message) => {
    file('broken.graphql', 'type Query {\n  a: Lost\n}');
    file('src/a.graphql', 'query A { entry(id: 1) { id } }');
    expect(await uses('--documents', 'src/*.graphql', '--schema', place)).toContain(message);
  });

  test.each([
    ['a link to a folder', 'more', '../elsewhere', 'src/more: is a symbolic link to a folder, which is not followed.'],
    ['a link to itself', 'loop.graphql', 'loop.graphql', 'src/loop.graphql: is a link that leads to itself\n'],
    ['a link to nothing', 'lost.graphql', 'nowhere', 'src/lost.graphql: is a link that leads nowhere\n'],
  ])('%s', async (_, name, target, message) => {
    file('src/a.graphql', 'query A { entry(id: 1) { id } }');
    file('elsewhere/b.graphql', 'query B { entry(id: 1) { id } }');
    symlinkSync(target, join(folder, 'src', name));
    expect(await uses(...withDocuments)).toContain(message);
  });

  test('a link to itself that is no pattern', async () => {
    symlinkSync('loop.graphql', join(folder, 'loop.graphql'));
    expect(await uses('--schema', schema, '--documents', 'loop.graphql')).toBe(
      'loop.graphql: is a link that leads to itself\n',
    );
  });

  test('a link to installed packages is none of the documents', async () => {
    file('src/a.graphql', 'query A { entry(id: 1) { id } }');
    symlinkSync('../node_modules', join(folder, 'src/node_modules'));
    expect(JSON.parse(await uses(...withDocuments)).operations).toHaveLength(1);
  });

  test('a folder as a pattern', async () => {
    mkdirSync(join(folder, 'src'));
    expect(await uses('--schema', schema, '--documents', 'src')).toBe('src: is a folder, not a file\n');
  });

  test.each([
    [['--schema', 'a'], '--schema needs --documents'],
    [['--documents', 'a'], '--documents needs --schema'],
    [[], 'pass --schema and --documents, --events, or all'],
    [['--schema', '-', '--documents', 'a', '--events', '-'], 'only one of --schema and --events can be -'],
  ])('the options %j', async (args, message) => {
    expect(await uses(...args)).toBe(`contract-check uses: ${message}. See contract-check uses --help.\n`);
  });

  test('a name of a consumer that is not one word', async () => {
    const { exitCode, stderr } = await run(['uses', '--consumer', 'a b', '--events', 'x']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        "contract-check uses: option '--consumer <name>' argument 'a b' is invalid. It must be a name of at most 100 letters, digits and @ . / _ -. See contract-check uses --help.\n",
    });
    expect((await run(['uses', '--events', 'x'])).stderr).toMatch(/^contract-check uses: --consumer is required\./);
  });
});
