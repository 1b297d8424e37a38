import { hasReference, readInterfaceContracts, readLayouts } from '@deedwire/generate';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { conflictsIn } from '../test/support/object-identity.ts';

const versions = (await readLayouts())
  .filter(hasReference)
  .flatMap(readInterfaceContracts)
  .flatMap(({ name, versions: of }) => of.map((version) => ({ name, version })));

test.each(versions)('one id is one object in the examples of $name $version.version', ({ version }) => {
  const responses = version.examples.flatMap(({ kind, document, exchanges }) =>
    exchanges.map(({ variables, response }) => ({ kind, document, variables, data: Object(response).data })),
  );
  // Nothing changes between the queries. A mutation leads to another state.
  const queries = responses.filter(({ kind }) => kind === 'query');
  const mutations = responses.filter(({ kind }) => kind === 'mutation').map((mutation) => [mutation]);
  expect(queries.length).toBeGreaterThan(9);
  for (const state of [queries, ...mutations]) expect(conflictsIn(version.schema, state)).toEqual([]);
});

const schema = buildSchema(`
  type Query { hooks(first: Int): [Hook!]!, hook(id: ID!): Hook }
  type Hook { id: ID!, name: String!, last: Call, events(first: Int): [String!]! }
  type Call { status: Int! }
`);
const listed = { document: '{ hooks { id name last { status } } }' };
const found = { document: 'query ($id: ID!) { hook(id: $id) { id name last { status } } }', variables: { id: '1' } };
const hook = { id: '1', name: 'A', last: { status: 200 } };

const compare = (other: object): string[] =>
  conflictsIn(schema, [
    { ...listed, data: { hooks: [{ id: '2', name: 'B', last: null }, hook] } },
    { ...found, data: { hook: { ...hook, ...other } } },
  ]);

test('compares what two responses have of one object', () => {
  expect(compare({})).toEqual([]);
  expect(compare({ name: 'B' })).toEqual(['Hook.name']);
  expect(compare({ last: { status: 500 } })).toEqual(['Call.status']);
});

test('objects without an id, and a field with other arguments, can differ', () => {
  const document = '{ hooks { name last { status } one: events(first: 1) two: events(first: 2) } }';
  const [one, two] = [['a'], ['a', 'b']];
  expect(
    conflictsIn(schema, [
      {
        document,
        data: {
          hooks: [
            { name: 'A', last: { status: 200 }, one, two },
            { name: 'B', last: { status: 500 }, one: [], two: [] },
          ],
        },
      },
    ]),
  ).toEqual([]);
});
