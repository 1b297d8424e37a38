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
  "How it is said."
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
  scalar Day
`;
const contract: Contract = {
  versions: [{ version: '2026-01-01', status: 'current', deprecatedOn: null, sunsetOn: null }],
  sdl: () => sdl,
};
const serve = (text: string) => serveContract(contract, new Map([['2026-01-01', buildSchema(text)]]));
const undescribed = sdl.replaceAll(/"[A-Z][^"]*"/g, '');

test('a schema without descriptions gets those of its contract', () => {
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
  ['one more type', 'scalar Day', 'scalar Day scalar Year', 'interface Thing', '"nothing more"', '""'],
])('%s is a difference, named with its place', (_, from, to, inside, promised, actual) => {
  expect(undescribed).toContain(from);
  const { problems } = serve(undescribed.replace(from, to));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toBe(
    `schema version 2026-01-01 differs from its contract: after "${inside}" it has ${promised}, the schema has ${actual}`,
  );
});

test('every promised version has a schema, every schema is promised, retired ones are not served', () => {
  const schema = buildSchema(sdl);
  const versions = [
    { version: '2024-01-01', status: 'retired', deprecatedOn: null, sunsetOn: null },
    { version: '2025-01-01', status: 'current', deprecatedOn: null, sunsetOn: null },
  ] as const;
  const served = serveContract(
    { versions, sdl: () => sdl },
    new Map([
      ['2024-01-01', schema],
      ['2026-01-01', schema],
    ]),
  );
  expect(served).toEqual({
    versions: [],
    problems: [
      'schema version 2025-01-01 is promised, but there is no schema for it',
      'there is a schema version 2024-01-01, but it is not promised',
      'there is a schema version 2026-01-01, but it is not promised',
    ],
  });
});

test.each([
  ['2026-03-01', '2027-03-01', []],
  ['2026-03-01', null, ['schema version 2026-01-01 is deprecated, but not from one day to another']],
  [null, '2027-03-01', ['schema version 2026-01-01 is deprecated, but not from one day to another']],
  ['2026-03-01', '2027-13-01', ['schema version 2026-01-01 is deprecated, but not from one day to another']],
])('a deprecated version says since when and until when: %s, %s', (deprecatedOn, sunsetOn, expected) => {
  const versions = [{ version: '2026-01-01', status: 'deprecated', deprecatedOn, sunsetOn }] as const;
  const { problems } = serveContract({ ...contract, versions }, new Map([['2026-01-01', buildSchema(undescribed)]]));
  expect(problems).toEqual(expected);
});
