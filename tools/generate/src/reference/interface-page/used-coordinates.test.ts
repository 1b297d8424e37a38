import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { usedCoordinates } from './used-coordinates.ts';

const schema = buildSchema(`
  type Query { customer: Customer  orders(first: Int, where: Filter): [Order!]!  unused: Int }
  type Customer { id: ID!  name: String }
  type Order { id: ID!  status: Status! }
  enum Status { OPEN CLOSED }
  input Filter { status: Status  and: Filter  note: String }
`);

test('contains what a document selects and passes, with its enums and input types', () => {
  const document =
    'query Q($where: Filter) { customer { ...Names } orders(where: $where) { status } } fragment Names on Customer { name }';
  expect([...usedCoordinates(schema, document)].filter((each) => each !== 'Int').toSorted()).toEqual([
    'Customer',
    'Customer.name',
    'Filter',
    'Filter.and',
    'Filter.note',
    'Filter.status',
    'Order',
    'Order.status',
    'Query',
    'Query.customer',
    'Query.orders',
    'Query.orders(where:)',
    'Status',
    'Status.CLOSED',
    'Status.OPEN',
    'String',
  ]);
});
