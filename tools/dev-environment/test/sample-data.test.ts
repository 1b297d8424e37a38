import { listCredentials, revokeCredential } from '@deedwire/actions';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { seedContext } from '@deedwire/development';
import { createStore } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { seedDatabase, withLiveCredentials } from '../src/sample-data.ts';
import { createMigratedDatabase } from './harness/index.ts';

const { databaseUrl } = await forFile(createMigratedDatabase());
const store = await forFile(createStore({ databaseUrl, tables: testService.tables, applicationName: 'test' }));
const context = seedContext(testService, store, 'service');

test('without a seed, one organization has an account of each interface, each with its own key', async () => {
  const accounts = await seedDatabase(context, {});
  expect(Object.keys(accounts)).toEqual(interfaceNames);
  const credentials = Object.values(accounts).map(({ credential }) => credential);
  expect(new Set(credentials.map(({ organizationId }) => organizationId)).size).toBe(1);
  expect(new Set(credentials.map(({ apiKey }) => apiKey)).size).toBe(interfaceNames.length);
});

test('a seed names organizations and accounts, and creates records once', async () => {
  const created: string[] = [];
  const accounts = await seedDatabase(context, {
    organizations: ['North Shop', 'South Shop'],
    accountNames: { customer: 'Ada' },
    createRecords: async (_, { customer }) => void created.push(customer?.id ?? ''),
  });
  expect(Object.keys(accounts)).toEqual([...interfaceNames, 'otherCustomer', 'otherSupplier']);
  expect(created).toEqual([accounts['customer']?.id]);
});

test('replaces a revoked key and keeps the others', async () => {
  const accounts = await seedDatabase(context, { organizations: ['North Shop', 'South Shop'] });
  const { customer, ...others } = accounts;
  const [key] = await listCredentials(context, { interfaceName: 'customer', accountId: customer?.id ?? '' });
  await revokeCredential(context, { keyId: key?.keyId ?? '' });
  const renewed = await withLiveCredentials(context, {}, accounts);
  expect(renewed).toEqual({ ...others, customer: expect.objectContaining({ id: customer?.id }) });
  expect(renewed['customer']?.credential.apiKey).not.toBe(customer?.credential.apiKey);
});

test('gives an interface that was added its accounts in the organizations of the others', async () => {
  const { supplier, otherSupplier, ...known } = await seedDatabase(context, { organizations: ['North', 'South'] });
  const completed = await withLiveCredentials(context, {}, known);
  expect(completed['supplier']?.credential.organizationId).toBe(supplier?.credential.organizationId);
  expect(completed['otherSupplier']?.credential.organizationId).toBe(otherSupplier?.credential.organizationId);
  expect(completed['supplier']?.id).not.toBe(supplier?.id);
});
