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

test('names the coordinate of each difference, and both sides', () => {
  expect(differences('type Query { ledger: String entries: [String] notes: Int }')).toEqual([
    'ledger-api 2026-11-01: Query.entries: The type is [String!]! in the SDL, but [String] is served.',
    'ledger-api 2026-11-01: Query.ledger(id:): The argument is in the SDL, but not served.',
    'ledger-api 2026-11-01: Query.notes: The field is served with the type Int, but not in the SDL.',
  ]);
});

test('adds the problems of the versions as a whole', () => {
  expect(differences(contract, ['schema version 2027-02-01 has no schema'])).toEqual([
    'ledger-api: schema version 2027-02-01 has no schema',
  ]);
});
