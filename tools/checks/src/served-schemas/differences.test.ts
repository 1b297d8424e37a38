import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { servedDifferences } from './differences.ts';

const contract = 'type Query { ledger(id: ID!): String entries: [String!]! }';

function differences(served: string, problems: string[] = []): string[] {
  const versions = [{ version: '2026-11-01', schema: buildSchema(served) }];
  return servedDifferences({ name: 'ledger-api', versions, problems, sdl: () => contract });
}

test('finds nothing in a schema that differs in order only', () => {
  expect(differences('type Query { entries: [String!]! ledger(id: ID!): String }')).toEqual([]);
});

test('names the coordinate of each difference in the words of a contract change', () => {
  expect(differences('type Query { ledger: String entries: [String] notes: Int }')).toEqual([
    'ledger-api 2026-11-01, served instead of the contract: Query.entries: The type changed from [String!]! to [String].',
    'ledger-api 2026-11-01, served instead of the contract: Query.ledger(id:): The argument was removed.',
    'ledger-api 2026-11-01, served instead of the contract: Query.notes: The field was added with the type Int.',
  ]);
});

test('adds the problems of the versions as a whole', () => {
  expect(differences(contract, ['schema version 2027-02-01 has no schema'])).toEqual([
    'ledger-api: schema version 2027-02-01 has no schema',
  ]);
});
