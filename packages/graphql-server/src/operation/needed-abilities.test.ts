import { buildSchema, Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { createNeededAbilities } from './needed-abilities.ts';
import { selectOperation } from './select-operation.ts';

const schema = buildSchema(`
  type Query { events: [Event!]!  anything: Anything }
  interface Event { id: ID! payload: String }
  type Public implements Event { id: ID! payload: String }
  type Secret implements Event { id: ID! payload: String }
  union Anything = Public | Secret
`);
const find = createNeededAbilities(schema, { 'Query.events': ['READ'], 'Secret.payload': ['READ_PAYLOAD'] });

function needs(query: string) {
  const document = parse(query);
  return find(document, selectOperation(document, null));
}

test.each([
  ['{ events { payload } }', ['READ_PAYLOAD']],
  ['{ events { id } }', []],
  ['{ events { ... on Public { payload } } }', []],
  ['{ events { ... on Secret { text: payload } } }', ['READ_PAYLOAD']],
  ['{ anything { ... on Event { payload } } }', ['READ_PAYLOAD']],
  ['{ anything { ...F } } fragment F on Event { ...G } fragment G on Event { payload }', ['READ_PAYLOAD']],
  ['{ events { __typename } __schema { types { name } } }', []],
])('%s', (query, expected) => {
  expect(needs(query)).toEqual(expected);
});

test('fragments in a cycle end', () => {
  expect(needs('{ events { ...F } } fragment F on Event { id ...F }')).toEqual([]);
});

test('an operation needs what the fragments of its document need', () => {
  const [open, closed] = ['id', 'payload'].map((field) => parse(`fragment F on Event { ${field} }`).definitions);
  const { definitions } = parse('{ events { ...F } }');
  const of = (fragments = definitions) => {
    const document = { kind: Kind.DOCUMENT, definitions: [...definitions, ...fragments] } as const;
    return find(document, selectOperation(document, null));
  };
  expect([of(open), of(closed), of(open)]).toEqual([[], ['READ_PAYLOAD'], []]);
});
