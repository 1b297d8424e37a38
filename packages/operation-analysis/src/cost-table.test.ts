import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { readCostTable } from './cost-table.ts';
import type { OperationCosts } from './operation-costs.ts';

const schema = buildSchema(/* GraphQL */ `
  type Query {
    things(first: Int = 20): ThingConnection!
    thing: Thing
    parts: [Part!]!
  }
  type ThingConnection {
    nodes: [Thing!]!
  }
  interface Thing {
    id: ID!
  }
  type Part implements Thing {
    id: ID!
    names: [String!]!
  }
`);
const problemsOf = (costs: Partial<OperationCosts>) =>
  readCostTable(schema, { weights: {}, listSizes: { 'Query.parts': 5 }, pageSizeMaximum: 100, ...costs }).problems;

test('accepts costs that cover every list of objects, including with those of fields that are gone', () => {
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ weights: { 'Part.gone': 5 } })).toEqual([]);
  expect(problemsOf({ weights: { 'Part.names': 0.5 }, listSizes: { 'Query.parts': 5, 'Query.things': 30 } })).toEqual(
    [],
  );
});

test.each<[string, Partial<OperationCosts>, string]>([
  [
    'a list without a size',
    { listSizes: {} },
    'Query.parts returns a list, but its manifest has no "costListSizes" for it',
  ],
  [
    'a size of a field that is no list',
    { listSizes: { 'Query.parts': 5, 'Query.thing': 2 } },
    'Query.thing has a list size, but it is neither a list of objects nor a connection',
  ],
  [
    'a size of a list of scalars',
    { listSizes: { 'Query.parts': 5, 'Part.names': 2 } },
    'Part.names has a list size, but it is neither a list of objects nor a connection',
  ],
  [
    'a size of 0',
    { listSizes: { 'Query.parts': 0 } },
    'the list size of Query.parts is 0; it must be a positive integer',
  ],
  [
    'a page maximum below its weight',
    { weights: { 'Part.names': 0.5 }, pageMaximums: { 'Part.names': 0.4 } },
    'the page maximum of Part.names is 0.4; it must be a text, and at least its weight',
  ],
  [
    'a page maximum of an object',
    { pageMaximums: { 'Query.thing': 9 } },
    'the page maximum of Query.thing is 9; it must be a text, and at least its weight',
  ],
  ['a weight below 0', { weights: { 'Part.id': -1 } }, 'the cost weight of Part.id is -1; it must be 0 or more'],
  [
    'a field that costs more than that of its interface',
    { weights: { 'Part.id': 2 } },
    'Part.id costs more than Thing.id, which it implements',
  ],
])('reports %s', (_, costs, problem) => {
  expect(problemsOf(costs)).toEqual([problem]);
});

test('reports a connection that is returned by a field without `first`', () => {
  const odd = buildSchema('type Query { a(first: Int): C! b: C! } type C { nodes: [Query!]! }');
  expect(readCostTable(odd, { weights: {}, listSizes: {}, pageSizeMaximum: 100 }).problems).toEqual([
    'Query.b returns a connection, but has no argument "first"',
  ]);
});

test('takes a list with `first` for a list, not for a connection', () => {
  const listing = buildSchema(
    'type Query { parts(first: Int = 5): [Part!]! part: Part } type Part { inner: [Part!]! }',
  );
  const listSizes = { 'Query.parts': 5, 'Part.inner': 3 };
  const { table, problems } = readCostTable(listing, { weights: {}, listSizes, pageSizeMaximum: 100 });
  expect(problems).toEqual([]);
  expect(table.get('Query.parts')).toMatchObject({
    weight: 1000,
    size: { kind: 'fixed', items: 5 },
    pageMaximum: null,
    group: null,
  });
  expect(table.get('Part.inner')?.size).toEqual({ kind: 'fixed', items: 3 });
});
