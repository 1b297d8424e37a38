import { randomUUID } from 'node:crypto';
import { createAccount, createOrganization, systemRandom, type OperatorContext } from '@deedwire/actions';
import { toRecordId } from '@deedwire/core';
import { createMigratedDatabase } from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { addTeamMember, createLenderReader } from '@deedwire/firm/lender';
import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { createStore, type Database } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { execute, parse } from 'graphql';
import { expect, test } from 'vitest';

const database = await forFile(createMigratedDatabase());
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const operator = { name: 'ada', host: 'desk', requestId: randomUUID() };
const context: OperatorContext = {
  store,
  service: firm,
  gidNamespace: 'service',
  now: () => new Date(),
  random: systemRandom,
  operator,
};
const organization = await createOrganization(context, { name: 'Harbour' });
const lender = await createAccount(context, 'lender', { organizationId: organization.id, name: 'Northwind' });
for (const firstName of ['Ada', 'Ben', 'Chloé']) {
  const details = { firstName, lastName: 'Fairbank', email: `${firstName}@northwind.example` };
  await addTeamMember(context, { lenderId: lender.id, ...details });
}
const accountId = lender.id.split('/').at(-1) ?? '';

/** Runs a query as the lender, and counts the statements. */
async function statementsOf(version: string, query: string): Promise<number> {
  const schema = lenderInterface.contract.versions.find((each) => each.version === version)?.schema;
  if (!schema) throw new Error(`There is no version ${version}.`);
  let statements = 0;
  const counting: Database = {
    query(statement, values) {
      statements += 1;
      return store.query(statement, values);
    },
  };
  const contextValue = {
    caller: { interfaceName: 'lender', accountId: toRecordId(accountId), clientId: 'client' },
    actions: { service: firm, gidNamespace: 'service', store: counting, lenders: createLenderReader(counting) },
  };
  expect(await execute({ schema, document: parse(query), contextValue })).not.toHaveProperty('errors');
  return statements;
}

test.each([
  ['the id', '2026-11-01', '{ lender { id } }', 0],
  ['the name', '2026-11-01', '{ lender { name } }', 1],
  ['the members', '2026-11-01', '{ lender { members { firstName } } }', 1],
  ['everything', '2026-11-01', '{ lender { id name members { id firstName lastName email } } }', 1],
  ['everything under several names', '2026-11-01', '{ a: lender { name } b: lender { name members { id } } }', 1],
  [
    'two pages',
    '2027-02-01',
    '{ lender { name a: members(first: 1) { nodes { id } } b: members { nodes { id } } } }',
    1,
  ],
])('reads %s of a lender in at most one statement (%s)', async (_, version, query, expected) => {
  expect(await statementsOf(version, query)).toBe(expected);
});
