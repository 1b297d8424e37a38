import { beforeEach, describe, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';

const sdl = `directive @priority(level: Int) on FIELD
directive @cache(maxAge: Int) on FIELD_DEFINITION
type Entry { id: ID! note: String amount(unit: String, digits: Int): Int parent: Entry lines(first: Int, after: String, in: [Int]): Lines! }
type Lines { edges: [LineEdge!]! }
type LineEdge { node: Line! }
type Line { id: ID! text(size: Int): String owner: Entry }
type Query { entry(id: ID!): Entry entries(limit: Int): [Entry!]! lines(first: Int): Lines! }
type Mutation { add(note: String!): Entry addLine: Line remove(id: ID!): ID }
`;

let folder = '';
beforeEach(() => {
  folder = folderForTest();
  writeIn(folder, 'package.json', { name: '@books/ledger-schema', version: '1.4.0' });
  writeIn(folder, 'versions/2026-11-01.graphql', sdl);
});

async function uses(text: string, ...args: readonly string[]) {
  writeIn(folder, 'src/a.graphql', text);
  const places = ['--schema', 'versions/2026-11-01.graphql', '--documents', 'src/*.graphql'];
  return runInFolder(folder, ['uses', '--consumer', 'portal', ...places, ...args]);
}

/** The texts of the operations, each in one line, and their variables and coordinates. */
async function sentOf(text: string, ...args: readonly string[]) {
  const [json = '', notice = ''] = (await uses(text, ...args)).split(/^(?=The client sends)/m);
  const { pin, operations, coordinates } = JSON.parse(json);
  expect(pin).toBe('2026-11-01');
  const texts = operations.map(({ text: sent }: { text: string }) =>
    sent.replaceAll(/\s+/g, ' ').replaceAll(/_[0-9a-f]{8}\b/g, '_HASH'),
  );
  return { texts, variables: operations[0].variables, coordinates: Object.keys(coordinates), notice };
}

describe('what only a client knows is not sent', () => {
  test.each([
    [
      'Apollo: @client on a field, with its selection and what it uses',
      'query A($n: Int) { entry(id: 1) { id isOpen(n: $n) @client { ...Local } } } fragment Local on LocalState { open }',
      '{ entry(id: 1) { id } }',
    ],
    [
      'Apollo: @client on a spread and an inline fragment',
      'query A { entry(id: 1) { id ...Local @client ... on Local @client { open } } } fragment Local on LocalState { open }',
      '{ entry(id: 1) { id } }',
    ],
    [
      'Apollo: @client on the only field, whose parent is sent with its type name',
      'query A { entry(id: 1) { isOpen @client } }',
      '{ entry(id: 1) { __typename } }',
    ],
    [
      'Apollo: a fragment of which nothing is left, and what spreads it',
      'query A { entry(id: 1) { id ...Open } } fragment Open on Entry { __typename ...Inner } fragment Inner on Entry { isOpen @client }',
      '{ entry(id: 1) { id } }',
    ],
    [
      'Relay: an argument that is not checked',
      'query A { entry(id: 1) { ...F @uncheckedArguments_DEPRECATED(zz: 2) } } fragment F on Entry { id }',
      '{ entry(id: 1) { ...F } } fragment F on Entry { id }',
    ],
    ['Apollo: an operation of which nothing is left', 'query A { me @client { name } }', '{ __typename }'],
    [
      'Apollo: @export, whose variable is sent elsewhere',
      'query A($id: ID!) { current @client @export(as: "id") entry(id: $id) { id } }',
      '($id: ID!) { entry(id: $id) { id } }',
    ],
    [
      'Apollo: @connection, @nonreactive, @unmask',
      'query A { entries @connection(key: "x", filter: ["limit"]) { id @nonreactive ...F @unmask(mode: "migrate") } } fragment F on Entry { note }',
      '{ entries { id ...F } } fragment F on Entry { note }',
    ],
    [
      'apollo-link-rest: @rest and @type',
      'query A { entry(id: 1) { id } person @rest(type: "P", path: "p") { pet @type(name: "Pet") { name } } }',
      '{ entry(id: 1) { id } }',
    ],
    [
      'Relay: @refetchable, @required, @relay, @alias, @inline, @throwOnFieldError, @catch, __id',
      'query A @throwOnFieldError @raw_response_type @preloadable { entry(id: 1) { __id id @required(action: LOG) note @catch(to: NULL) ...F @relay(mask: false) @alias(as: "f") } } fragment F on Entry @inline @refetchable(queryName: "Q") { note }',
      '{ entry(id: 1) { id note ...F } } fragment F on Entry { note }',
    ],
    [
      'Relay: the variables that only its list operations use',
      'mutation A($in: [ID!]!, $note: String!) { add(note: $note) @appendNode(connections: $in, edgeTypeName: "E") { id @deleteRecord } }',
      '($note: String!) { add(note: $note) { id } }',
    ],
    [
      'Relay: @argumentDefinitions and @arguments, by value',
      'query A($n: Int) { entry(id: 1) { ...F @arguments(first: $n, unit: "cent") } } fragment F on Entry @argumentDefinitions(first: { type: "Int", defaultValue: 10 }, after: { type: "String" }, unit: { type: "String!" }) { amount(unit: $unit) lines(first: $first, after: $after, in: [$after, 1]) { edges { node { id } } } }',
      '($n: Int) { entry(id: 1) { ...F_HASH } } fragment F_HASH on Entry { amount(unit: "cent") lines(first: $n, in: [null, 1]) { edges { node { id } } } }',
    ],
    [
      'Relay: the defaults of arguments, through a fragment',
      'query A { entry(id: 1) { ...G } } fragment G on Entry { ...F } fragment F on Entry @argumentDefinitions(n: { type: "Int", defaultValue: 10 }) { amount(digits: $n) }',
      '{ entry(id: 1) { ...G } } fragment F on Entry { amount(digits: 10) } fragment G on Entry { ...F }',
    ],
    [
      'Houdini: @arguments and @with',
      'query A { entry(id: 1) { ...F @with(n: 2) } } fragment F on Entry @arguments(n: { type: "Int", default: 10 }) @plural { amount(digits: $n) }',
      '{ entry(id: 1) { ...F_HASH } } fragment F_HASH on Entry { amount(digits: 2) }',
    ],
    [
      'Houdini: @paginate, @list, @loading, @cache and directives of types',
      'query A @loading @cache(policy: CacheOrNetwork) { entries(limit: 5) @paginate(name: "All") @list(name: "Entries") { id @Entry_delete } }',
      '{ entries(limit: 5) { id } }',
    ],
    [
      'urql: @populate, and names that begin with _',
      'mutation A { add(note: "a") @populate addLine @_optional { id } }',
      '{ add(note: "a") { __typename } addLine { id } }',
    ],
  ])('%s', async (name, text, sent) => {
    const { texts, coordinates, notice } = await sentOf(text);
    expect(notice !== '').toBe(/^(?:Relay|Houdini|urql)/.test(name));
    expect(texts).toEqual([expect.stringMatching(/^(?:query|mutation) A/)]);
    expect(texts[0].replace(/^(?:query|mutation) A ?/, '')).toBe(sent);
    expect(coordinates.filter((each) => each.startsWith('@'))).toEqual([]);
  });

  test('Houdini: fragments that it generates select what the list does', async () => {
    const { texts, coordinates } = await sentOf(`
      query Lists { lines { edges { node { id ...Text } } } entries @list(name: "Entries") { id note } }
      fragment Text on Line { text }
      query Paged { lines(first: 2) @paginate(name: "Lines") { edges { node { id ...Text } } } }
      mutation Add($note: String!) { add(note: $note) { ...Entries_insert @prepend @parentID(value: $note) ...Entries_remove @allLists } addLine { ...Lines_toggle } }`);
    expect(texts[0]).toBe(
      'mutation Add($note: String!) { add(note: $note) { ... on Entry { id note } ... on Entry { id } } addLine { ... on Line { id ...Text } } } fragment Text on Line { text }',
    );
    expect(coordinates).toContain('Line.text');
  });

  test('a notice says that a compiler adds to the documents', async () => {
    const { notice } = await sentOf('query A { entries @paginate { id } }');
    expect(notice).toBe(
      'The client sends more than its documents contain (they have @paginate), such as ids and queries of pages. That is missing here, so can-i-deploy does not ask about it: pass persisted operations.\n',
    );
  });

  test('an operation of which nothing is left uses nothing', async () => {
    expect((await sentOf('query A { me @client { name } }')).coordinates).toEqual([]);
  });

  test('a directive of the schema is sent, and one of its definitions is not', async () => {
    const { texts, coordinates } = await sentOf(
      'query A { entry(id: 1) @priority(level: 1) @cache(policy: x) { id } }',
    );
    expect(texts).toEqual(['query A { entry(id: 1) @priority(level: 1) { id } }']);
    expect(coordinates).toContain('@priority(level:)');
    writeIn(folder, 'versions/2026-11-01.graphql', `${sdl} directive @client on FIELD`);
    expect((await sentOf('query A { entry(id: 1) { id @client } }')).texts).toEqual([
      'query A { entry(id: 1) { id @client } }',
    ]);
  });

  test.each([['mine'], ['@mine']])('--ignore-directive %s removes one that the consumer knows', async (name) => {
    const { notice, ...sent } = await sentOf(
      'query A($in: Int) { entry(id: 1) @mine(in: $in) { id @other } }',
      '--ignore-directive',
      name,
      '--ignore-directive',
      'other',
    );
    expect(notice).toBe('');
    expect(sent).toEqual({
      texts: ['query A { entry(id: 1) { id } }'],
      variables: {},
      coordinates: ['Entry.id', 'Query.entry', 'Query.entry(id:)'],
    });
  });
});

const way = (name: string): string =>
  `Unknown directive "@${name}". The server refuses it. If the client or a gateway removes it, pass --ignore-directive ${name}.`;

const declare = 'Declare it with @argumentDefinitions (in Houdini: @arguments), or leave it out.';

describe('errors stay', () => {
  test.each([
    ['an unknown directive', 'query A { entry(id: 1) @mine { id } }', `src/a.graphql:1:24: ${way('mine')}`],
    ['@defer', 'query A { ... @defer { entry(id: 1) { id } } }', `src/a.graphql:1:15: ${way('defer')}`],
    ['@stream', 'query A { entries @stream { id } }', `src/a.graphql:1:19: ${way('stream')}`],
    [
      'a directive of a type that the schema lacks',
      'mutation A { remove(id: 1) @Lost_delete }',
      `src/a.graphql:1:28: ${way('Lost_delete')}`,
    ],
    [
      'a field that only a client could know, without a directive',
      'query A { entry(id: 1) { isOpen note @required(action: NONE) } }',
      'src/a.graphql:1:26: Cannot query field "isOpen" on type "Entry".',
    ],
    [
      'a variable that nothing uses',
      'query A($in: Int, $n: Int) { entry(id: 1) @connection(key: $n) { id } }',
      'src/a.graphql:1:9: Variable "$in" is never used in operation "A".',
    ],
    [
      'an argument of a fragment that is required',
      'query A { entry(id: 1) { ...F } } fragment F on Entry @argumentDefinitions(n: { type: "Int!" }) { amount(digits: $n) }',
      'src/a.graphql:1:114: Variable "$n" is not defined by operation "A". (also src/a.graphql:1:1)',
    ],
    [
      'an argument of a fragment with a value of another type',
      'query A { entry(id: 1) { ...F @arguments(n: "x") } } fragment F on Entry @argumentDefinitions(n: { type: "Int" }) { amount(digits: $n) }',
      'src/a.graphql:1:45: Int cannot represent non-integer value: "x"',
    ],
    [
      'a fragment with arguments that spreads itself',
      'query A { entry(id: 1) { ...F } } fragment F on Entry @arguments(n: { type: "Int" }) { parent { ...F @with(n: $n) } }',
      'src/a.graphql:1:97: Cannot spread fragment "F" within itself.',
    ],
    [
      'a fragment that doubles the values of its argument',
      'query A { entry(id: 1) { ...F @with(n: 1) } } fragment F on Entry @arguments(n: { type: "[Int]" }) { parent { ...F @with(n: [$n, $n]) } }',
      'src/a.graphql:1:111: An operation has more than 1000 lists of arguments of fragments, or longer ones than 10000 characters.',
    ],
    [
      'an argument that a fragment of Relay does not declare',
      'query A { entry(id: 1) { ...F @arguments(n: 1, zz: 2) } } fragment F on Entry @argumentDefinitions(n: { type: "Int" }) { amount(digits: $n) }',
      `src/a.graphql:1:48: Fragment "F" declares no argument "zz". ${declare}`,
    ],
    [
      'an argument of a fragment that declares none',
      'query A { entry(id: 1) { ...F @with(zz: 2) } } fragment F on Entry { id }',
      `src/a.graphql:1:37: Fragment "F" declares no argument "zz". ${declare}`,
    ],
    [
      'arguments of an unknown fragment',
      'query A { entry(id: 1) { ...F @with(n: 2) } }',
      'src/a.graphql:1:29: Unknown fragment "F".',
    ],
    [
      'an argument that is passed to a fragment twice',
      'query A { entry(id: 1) { ...F @with(n: 1, n: 2) } } fragment F on Entry @arguments(n: { type: "Int" }) { amount(digits: $n) }',
      'src/a.graphql:1:37: There can be only one argument of a fragment named "n". (also src/a.graphql:1:43)',
    ],
    [
      'an argument that a fragment declares twice',
      'query A { entry(id: 1) { ...F } } fragment F on Entry @arguments(n: { type: "Int" }, n: { type: "ID" }) { amount(digits: $n) }',
      'src/a.graphql:1:66: There can be only one argument of a fragment named "n". (also src/a.graphql:1:86)',
    ],
    [
      'a generated fragment of a list that no document names',
      'mutation A { add(note: "a") { ...Lost_insert } }',
      'src/a.graphql:1:34: Unknown fragment "Lost_insert".',
    ],
  ])('%s', async (_, text, message) => {
    expect(await uses(text)).toBe(`${message}\n`);
  });

  test.each([
    ['priority', '--ignore-directive priority: the schema defines this directive, so that clients send it\n'],
    ['skip', '--ignore-directive skip: the schema defines this directive, so that clients send it\n'],
    [
      'a b',
      "contract-check uses: option '--ignore-directive <name>' argument 'a b' is invalid. It must be the name of a directive. See contract-check uses --help.\n",
    ],
  ])('--ignore-directive %j', async (name, message) => {
    expect(await uses('query A { entry(id: 1) { id } }', '--ignore-directive', name)).toBe(message);
  });
});
