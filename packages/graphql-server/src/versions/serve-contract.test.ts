import { buildSchema, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { type Contract, serveContract } from './serve-contract.ts';

const sdl = /* GraphQL */ `
  "Where to begin."
  type Query {
    "Says hello."
    hello("To whom." name: String = "world"): Greeting
    things: [Thing!]!
  }
  "The form of a greeting."
  enum Greeting {
    "Shortly."
    HI
  }
  "Something."
  interface Thing {
    "Its id."
    id: ID!
  }
  "One thing."
  type Pebble implements Thing {
    id: ID!
    find(where: PebbleFilter): Day
  }
  "Which pebbles."
  input PebbleFilter {
    "How heavy, in grams."
    weight: Int = 1
  }
  "A day."
  scalar Day @specifiedBy(url: "https://example.com/day")
`;
const costs = () => ({ weights: {}, listSizes: { 'Query.things': 10 }, pageSizeMaximum: 100 });
const abilities = { 'Query.hello': ['READ'], 'Query.things': ['READ', 'OPERATE'] };
const contract: Contract = {
  versions: [{ version: '2026-01-01', status: 'current', deprecatedOn: null, sunsetOn: null }],
  sdl: () => sdl,
  costs,
  abilities: () => abilities,
};
const serve = (text: string) => serveContract(contract, new Map([['2026-01-01', buildSchema(text)]]));
const undescribed = sdl.replaceAll(/"[A-Z][^"]*"| @specifiedBy\(.*\)/g, '');

test('copies the descriptions and the URLs of scalars of the contract into the schema', () => {
  const { versions, problems } = serve(undescribed);
  expect(problems).toEqual([]);
  expect(versions.map(({ version, deprecation }) => [version, deprecation])).toEqual([['2026-01-01', null]]);
  expect(versions.map(({ schema }) => printSchema(schema))).toEqual([printSchema(buildSchema(sdl))]);
});

test.each([
  [
    'a field that may be null',
    'things: [Thing!]!',
    'things: [Thing!]',
    'type Query',
    '"things: [Thing!]!"',
    '"things: [Thing!]"',
  ],
  [
    'another default',
    '"world"',
    '"World"',
    'type Query',
    String.raw`"name: String = \"world\""`,
    String.raw`"name: String = \"World\""`,
  ],
  ['an input default', 'weight: Int = 1', 'weight: Int', 'input PebbleFilter', '"weight: Int = 1"', '"weight: Int"'],
  [
    'a deprecation',
    'id: ID!\n    find',
    'id: ID! @deprecated\n    find',
    'type Pebble implements Thing',
    '"id: ID!"',
    '"id: ID! @deprecated"',
  ],
  ['one more enum value', 'HI\n', 'HI HO\n', 'enum Greeting', '"}"', '"HO"'],
  ['one more type', 'scalar Day', 'scalar Year scalar Day', 'interface Thing', '"(end)"', '""'],
])('reports the place of the difference: %s', (_, from, to, inside, promised, actual) => {
  expect(undescribed).toContain(from);
  const { problems } = serve(undescribed.replace(from, to));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toBe(
    `schema version 2026-01-01 differs from its contract: after "${inside}" the contract has ${promised}, the schema has ${actual}`,
  );
});

test('reports versions without a schema and schemas without a served version', () => {
  const schema = buildSchema(sdl);
  const versions = [
    { version: '2024-01-01', status: 'retired', deprecatedOn: null, sunsetOn: null },
    { version: '2025-01-01', status: 'current', deprecatedOn: null, sunsetOn: null },
  ] as const;
  const served = serveContract(
    { ...contract, versions },
    new Map([
      ['2024-01-01', schema],
      ['2026-01-01', schema],
    ]),
  );
  expect(served).toEqual({
    versions: [],
    problems: [
      'schema version 2025-01-01 is in the contract, but the app has no schema for it',
      'the app has a schema for version 2024-01-01, which is retired or not in the contract',
      'the app has a schema for version 2026-01-01, which is retired or not in the contract',
    ],
  });
});

const missingDates =
  'schema version 2026-01-01 is deprecated, but its deprecatedOn or sunsetOn is missing or not a date';
test.each([
  ['2026-03-01', '2027-03-01', []],
  ['2026-03-01', null, [missingDates]],
  [null, '2027-03-01', [missingDates]],
  ['2026-03-01', '2027-13-01', [missingDates]],
])('requires both dates of a deprecated version: %s, %s', (deprecatedOn, sunsetOn, expected) => {
  const versions = [{ version: '2026-01-01', status: 'deprecated', deprecatedOn, sunsetOn }] as const;
  const { problems } = serveContract({ ...contract, versions }, new Map([['2026-01-01', buildSchema(undescribed)]]));
  expect(problems).toEqual(expected);
});

test.each([
  ['no entry', { 'Query.hello': ['READ'] }, 'Query.things has no ability'],
  [
    'no field',
    { ...abilities, 'Pebble.weight': ['READ'] },
    'there is an ability for Pebble.weight, which is no field of an object type',
  ],
  [
    'a longer coordinate',
    { ...abilities, 'Pebble.id.id': ['READ'] },
    'there is an ability for Pebble.id.id, which is no field of an object type',
  ],
  [
    'an interface',
    { ...abilities, 'Thing.id': ['READ'] },
    'there is an ability for Thing.id, which is no field of an object type',
  ],
  [
    'an unknown ability',
    { ...abilities, 'Pebble.id': ['READ', 'FLY'] },
    'Pebble.id needs abilities out of READ, READ_PAYLOAD, OPERATE, CONFIGURE, WRITE, MANAGE_KEYS, not FLY',
  ],
  [
    'no ability',
    { ...abilities, 'Pebble.id': [] },
    'Pebble.id needs abilities out of READ, READ_PAYLOAD, OPERATE, CONFIGURE, WRITE, MANAGE_KEYS, not none',
  ],
])('reports a field with %s', (_, table, problem) => {
  const schemas = new Map([['2026-01-01', buildSchema(undescribed)]]);
  const { problems } = serveContract({ ...contract, abilities: () => table }, schemas);
  expect(problems).toEqual([`schema version 2026-01-01: ${problem}`]);
});
