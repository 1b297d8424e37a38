import { buildSchema, type DocumentNode, isObjectType, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { createOperationExecutor } from './execute-operation.ts';
import { createPlanCache, type PlanCache } from './plan-cache.ts';

const schema = buildSchema(/* GraphQL */ `
  type Query {
    name: String
    again: Query
  }
  type Subscription {
    renamed: String
  }
`);

function read(query: string): { document: DocumentNode; operation: OperationDefinitionNode } {
  const document = parse(query);
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (!operation) throw new Error('The document has no operation.');
  return { document, operation };
}

/** Whether each of the runs has a plan. */
function runs(cache: PlanCache, query: string, variables: readonly Record<string, unknown>[]): boolean[] {
  const { document, operation } = read(query);
  return variables.map((each) => cache.find(document, operation, each) !== null);
}

const aliases = Array.from({ length: 1001 }, (_, index) => `f${index}`);

test('plans an operation from the third run on', () => {
  expect(runs(createPlanCache(schema), '{ name }', [{}, {}, {}, {}])).toEqual([false, false, true, true]);
});

test('counts the runs of each operation of a document', () => {
  const cache = createPlanCache(schema);
  const document = parse('query A { name } query B { name }');
  const [a, b] = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const run = (operation: OperationDefinitionNode | undefined) =>
    operation !== undefined && cache.find(document, operation, {}) !== null;
  expect([run(a), run(a), run(a), run(b), run(b), run(b)]).toEqual([false, false, true, false, false, true]);
});

test('plans an operation without the variables of another one in the document', () => {
  const cache = createPlanCache(schema);
  const document = parse(`query A { ...F } fragment F on Query { name }
    query B($x: Boolean!) { name @include(if: $x) ...G } fragment G on Query { x: name @skip(if: $x) }`);
  const [a, b] = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const run = (operation: OperationDefinitionNode | undefined, variables: Record<string, unknown>) =>
    operation !== undefined && cache.find(document, operation, variables) !== null;
  expect([run(a, {}), run(a, {}), run(a, {})]).toEqual([false, false, true]);
  expect([run(b, { x: true }), run(b, { x: true }), run(b, { x: true })]).toEqual([false, false, true]);
});

test('has a plan for each combination of the variables of @skip and @include, at most eight', () => {
  const cache = createPlanCache(schema);
  const query = `query Q($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) {
    name @skip(if: $a) x: name @include(if: $b)
    ... @include(if: $c) { y: name }
    ...F @skip(if: $d)
  } fragment F on Query { z: name }`;
  const { document, operation } = read(query);
  const find = (number: number) =>
    cache.find(document, operation, {
      a: (number & 1) === 1,
      b: (number & 2) === 2,
      c: (number & 4) === 4,
      d: (number & 8) === 8,
    });
  find(0);
  find(0);
  const names = (number: number) => find(number)?.root.fields.map(({ responseName }) => responseName);
  expect([0, 1, 2, 4, 8, 7, 15, 3].map(names)).toEqual([
    ['name', 'z'],
    ['z'],
    ['name', 'x', 'z'],
    ['name', 'y', 'z'],
    ['name'],
    ['x', 'y', 'z'],
    ['x', 'y'],
    ['x', 'z'],
  ]);
  expect(find(5)).toBeNull();
  expect(names(8)).toEqual(['name']);
});

test('does not plan a subscription', () => {
  expect(runs(createPlanCache(schema), 'subscription { renamed }', [{}, {}, {}, {}])).toEqual(Array(4).fill(false));
});

test.each([
  ['introspection', '{ __schema { queryType { name } } }', { __schema: { queryType: { name: 'Query' } } }],
  ['introspection of a type', '{ __type(name: "Query") { kind } }', { __type: { kind: 'OBJECT' } }],
  ['an interface', '{ named { name } }', { named: { name: 'q' } }],
  ['a union', '{ either { ... on Query { name } } }', { either: { name: 'q' } }],
  ['a type with isTypeOf', '{ checked { name } }', { checked: { name: 'q' } }],
  ['a response name that would set a prototype', '{ __proto__: name }', JSON.parse('{"__proto__":"q"}')],
  ['more fields than a plan has', `{ ${aliases.map((alias) => `${alias}: name`).join(' ')} }`, Object.fromEntries(aliases.map((alias) => [alias, 'q']))], // prettier-ignore
])('graphql executes what is not planned: %s', async (__, query, data) => {
  const abstract = buildSchema(/* GraphQL */ `
    interface Named { name: String }
    union Either = Query
    type Checked { name: String }
    type Query implements Named { name: String named: Named either: Either checked: Checked }
  `); // prettier-ignore
  const checked = abstract.getType('Checked');
  if (!isObjectType(checked)) throw new Error('Checked is no object type.');
  checked.isTypeOf = () => true;
  const value = { __typename: 'Query', name: 'q' };
  const root = { name: () => 'q', named: () => value, either: () => value, checked: () => value };
  for (const [name, resolve] of Object.entries(root))
    Object.assign(abstract.getQueryType()?.getFields()[name] ?? {}, { resolve });
  const run = createOperationExecutor(abstract);
  const planned = createPlanCache(abstract);
  const { document, operation } = read(query);
  for (const _ of [1, 2, 3, 4]) {
    expect(planned.find(document, operation, {})).toBeNull();
    const deadline = { isLate: false, abort: null };
    const result = await run({ document, operation, variables: {}, contextValue: {}, deadline });
    expect(JSON.stringify(result)).toBe(JSON.stringify({ data }));
  }
});

test('does not expand fragments beyond the limit of fields', () => {
  const fragments = Array.from(
    { length: 40 },
    (_, i) => `fragment F${i} on Query { a: again { ...F${i + 1} } b: again { ...F${i + 1} } }`,
  );
  const query = `{ ...F0 } ${fragments.join(' ')} fragment F40 on Query { name }`;
  expect(runs(createPlanCache(schema), query, [{}, {}, {}])).toEqual([false, false, false]);
});

test('evicts the least recently used plans beyond a number of bytes', () => {
  const cache = createPlanCache(schema, 20_000);
  // A plan takes 2,000 bytes, 600 for its field, 450 for each of the 5 tokens of its document, and 6 for each of 16 characters.
  const documents = ['a', 'b', 'c', 'd', 'e'].map((alias) => read(`{ ${alias}:    name   }`));
  const find = (index: number) => {
    const { document, operation } = documents[index] ?? read('{ name }');
    return cache.find(document, operation, {});
  };
  for (const index of [0, 1, 2, 3]) for (let run = 0; run < 3; run += 1) find(index);
  expect(cache.bytes()).toBe(19_784);
  const first = find(0);
  for (let run = 0; run < 3; run += 1) find(4);
  expect(cache.bytes()).toBe(19_784);
  expect(find(0)).toBe(first);
  // The plan for document 1 is made again, in place of that for document 3.
  expect(find(1)).not.toBeNull();
  expect(cache.bytes()).toBe(19_784);
});
