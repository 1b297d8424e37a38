import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { usedCoordinates } from './used-coordinates.ts';

const schema = buildSchema(`
  type Query { lender: Lender  referrals(first: Int, where: Filter): [Referral!]!  unused: Int }
  type Lender { id: ID!  name: String }
  type Referral { id: ID!  status: Status! }
  enum Status { OPEN CLOSED }
  input Filter { status: Status  and: Filter  note: String }
`);

test('contains what a document selects and passes, with its enums and input types', () => {
  const document =
    'query Q($where: Filter) { lender { ...Names } referrals(where: $where) { status } } fragment Names on Lender { name }';
  expect([...usedCoordinates(schema, document)].filter((each) => each !== 'Int').toSorted()).toEqual([
    'Filter',
    'Filter.and',
    'Filter.note',
    'Filter.status',
    'Lender',
    'Lender.name',
    'Query',
    'Query.lender',
    'Query.referrals',
    'Query.referrals(where:)',
    'Referral',
    'Referral.status',
    'Status',
    'Status.CLOSED',
    'Status.OPEN',
    'String',
  ]);
});
