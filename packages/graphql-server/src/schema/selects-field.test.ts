import { buildSchema, execute, parse } from 'graphql';
import { expect, test } from 'vitest';
import { selectsField } from './selects-field.ts';

const schema = buildSchema(/* GraphQL */ `
  type Query {
    page: Page
  }
  type Page {
    nodes: [Node!]!
  }
  type Node {
    id: ID!
    payload: String
  }
`);

function selectsPayload(query: string, variableValues: Record<string, unknown> = {}): boolean {
  const selected: boolean[] = [];
  const page = (_arguments: unknown, _context: unknown, info: Parameters<typeof selectsField>[0]): null => {
    selected.push(selectsField(info, 'payload'));
    return null;
  };
  const { errors } = execute({ schema, document: parse(query), rootValue: { page }, variableValues }) as {
    errors?: unknown;
  };
  expect(errors).toBeUndefined();
  return selected[0] ?? false;
}

test.each([
  ['{ page { nodes { id } } }', false],
  ['{ page { nodes { id payload } } }', true],
  ['{ page { nodes { text: payload } } }', true],
  ['{ page { nodes { ...F } } } fragment F on Node { payload }', true],
  ['{ page { ... { nodes { ... on Node { payload } } } } }', true],
  ['{ page { nodes { id payload @skip(if: true) } } }', false],
  ['{ page { nodes { id payload @include(if: false) } } }', false],
  ['{ page { nodes { payload @skip(if: false) @include(if: true) } } }', true],
  ['{ page { nodes @skip(if: true) { payload } __typename } }', false],
  ['{ page { ... @include(if: false) { nodes { payload } } __typename } }', false],
  ['{ page { ...F @skip(if: true) ...F } } fragment F on Page { nodes { payload } }', true],
  ['{ page { ...F @skip(if: true) __typename } } fragment F on Page { nodes { payload } }', false],
])('a field is selected unless a directive excludes it: %s', (query, isSelected) => {
  expect(selectsPayload(query)).toBe(isSelected);
});

test.each([true, false])('a variable decides: %s', (yes) => {
  const query = 'query ($yes: Boolean!) { page { nodes { id payload @include(if: $yes) } } }';
  expect(selectsPayload(query, { yes })).toBe(yes);
});
