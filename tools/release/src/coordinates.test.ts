import { expect, test } from 'vitest';
import { coordinatesOf } from './coordinates.ts';

test('names the elements of an SDL file', () => {
  const sdl = `
    directive @tag(name: String!) on OBJECT
    scalar Day
    type Query { supplier(id: ID!, on: Day): Supplier }
    interface Named { name: String! }
    type Supplier implements Named { name: String! }
    union Party = Supplier
    input Filter { status: Status = OPEN }
    enum Status { OPEN CLOSED }
  `;
  expect([...coordinatesOf('versions/2026-11-01.graphql', sdl)]).toEqual([
    '@tag',
    'Day',
    'Query',
    'Query.supplier',
    'Query.supplier(id:)',
    'Query.supplier(on:)',
    'Named',
    'Named.name',
    'Supplier',
    'Supplier.name',
    'Party',
    'Filter',
    'Filter.status',
    'Status',
    'Status.OPEN',
    'Status.CLOSED',
  ]);
});

test('names the fields of a JSON Schema at every depth', () => {
  const schema = {
    type: 'object',
    properties: { id: {}, data: { properties: { item: { properties: { id: {} } } } } },
  };
  expect([...coordinatesOf('json-schema/a.b/2026-11-01.json', JSON.stringify(schema))]).toEqual([
    '$.id',
    '$.data',
    '$.data.item',
    '$.data.item.id',
  ]);
});

test('names the entries of the sections of other files as JSON Pointers', () => {
  const manifest = {
    description: 'text',
    errors: { NOT_FOUND: { status: {} } },
    limits: { 'a/b~c': 1 },
    pagination: {},
  };
  expect([...coordinatesOf('versions/2026-11-01.manifest.json', JSON.stringify(manifest))]).toEqual([
    '/errors/NOT_FOUND',
    '/limits/a~1b~0c',
  ]);
});
