import { buildSchema, parse, type OperationDefinitionNode } from 'graphql';
import { expect, test } from 'vitest';
import { createOperationExecutor } from './execute-operation.ts';

const schema = buildSchema(/* GraphQL */ `
  type Query {
    items(later: Boolean = false): ItemConnection!
    same: ItemConnection!
    missing: ItemConnection
  }
  type ItemConnection {
    edges: [ItemEdge!]!
    nodes: [Item!]!
    pageInfo: PageInfo!
  }
  type ItemEdge {
    cursor: String!
  }
  type Item {
    id: ID!
  }
  type PageInfo {
    hasNextPage: Boolean!
  }
`);
const createPage = (): object => ({
  edges: [{ cursor: 'a' }, { cursor: 'b' }, { cursor: 'c' }, { cursor: 'd' }],
  nodes: [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }],
  pageInfo: { hasNextPage: true },
});
const samePage = createPage();
const fields = schema.getQueryType()?.getFields() ?? {};
const resolvers = {
  items: (_: unknown, { later }: { later?: boolean }) =>
    later === true ? Promise.resolve(createPage()) : createPage(),
  same: () => samePage,
  missing: () => null,
};
for (const [name, resolve] of Object.entries(resolvers)) Object.assign(fields[name] ?? {}, { resolve });
const execute = createOperationExecutor(schema);
// Another executor of the schema changes nothing.
createOperationExecutor(schema);

async function extraCostOf(query: string, variables: Record<string, unknown> = {}): Promise<number[]> {
  const document = parse(query);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const costs: number[] = [];
  // Repeated operations run by a plan.
  for (let run = 0; run < 4; run += 1) {
    const extraWork = { cost: 0 };
    const { errors } = await execute({
      document,
      operation,
      variables,
      contextValue: { extraWork },
      deadline: { isLate: false, abort: null },
    });
    expect(errors).toBeUndefined();
    costs.push(extraWork.cost);
  }
  return costs;
}

test.each([
  ['a type name', '{ items { __typename } }', 2_000],
  ['a type name, later', '{ items(later: true) { __typename } }', 2_000],
  ['something else of the page', '{ items { pageInfo { hasNextPage } } }', 2_000],
  [
    'skipped items',
    '{ items { nodes @skip(if: true) { id } edges @include(if: false) { cursor } __typename } }',
    2_000,
  ],
  ['two pages', '{ a: items { __typename } b: items(later: true) { __typename } }', 4_000],
  ['two pages, one with its items', '{ a: items { __typename } b: items { nodes { id } } }', 2_000],
  ['one page under two names', '{ a: same { __typename } b: same { __typename } }', 2_000],
  ['one page under two names, one with its items', '{ a: same { __typename } b: same { nodes { id } } }', 0],
  ['the same in the other order', '{ b: same { nodes { id } } a: same { __typename } }', 0],
  ['nodes', '{ items { nodes { id } } }', 0],
  ['edges', '{ items(later: true) { edges { cursor } } }', 0],
  ['both', '{ items { edges { cursor } nodes { id } pageInfo { hasNextPage } } }', 0],
  ['no page', '{ missing { __typename } }', 0],
])('%s: the rows of a page cost half a point each unless its items are selected', async (_, query, cost) => {
  expect(await extraCostOf(query)).toEqual([cost, cost, cost, cost]);
});
