import { seedContext } from '@deedwire/development';
import { firm, interfaceNames } from '@deedwire/firm';
import { convertReferral, listReferralsOfPartner } from '@deedwire/firm/partner';
import { firmSeed } from '@deedwire/firm/seed';
import { createStore } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { ensureOpenReferrals, seed } from '../../src/firm/seed.ts';
import { seedDatabase, withLiveCredentials } from '../../src/sample-data.ts';
import { createMigratedDatabase } from './harness/index.ts';

const { databaseUrl } = await forFile(createMigratedDatabase());
const store = await forFile(createStore({ databaseUrl, applicationName: 'test' }));
const context = seedContext(firm, store, 'service');

test('creates two organizations and two accounts of each interface, each with its own key', async () => {
  const accounts = Object.values(await seed(context));
  expect(accounts.map(({ interfaceName }) => interfaceName)).toEqual([...interfaceNames, ...interfaceNames]);
  expect(new Set(accounts.map(({ credential }) => credential.organizationId)).size).toBe(2);
  expect(new Set(accounts.map(({ credential }) => credential.apiKey)).size).toBe(accounts.length);
});

test('creates new referrals in place of closed ones', async () => {
  const { partner } = await seed(context);
  const first = await ensureOpenReferrals(context, partner.id);
  expect(first).toHaveLength(25);
  for (const referralId of first.slice(0, 3)) await convertReferral(context, { referralId });
  const second = await ensureOpenReferrals(context, partner.id);
  expect(second).toHaveLength(25);
  expect(second.slice(0, 22)).toEqual(first.slice(3));
  const page = await listReferralsOfPartner(context, { partnerId: partner.id, status: 'OPEN', first: 100 });
  expect(page.edges.map(({ node }) => node.id)).toEqual(second.toReversed());
});

test('`pnpm dev` finds the accounts and the records of the demonstration', async () => {
  const accounts = await seedDatabase(context, firmSeed);
  const other = await seed(context);
  expect(Object.keys(accounts)).toEqual(Object.keys(other));
  expect(accounts['otherLender']?.credential.organizationId).not.toBe(accounts['lender']?.credential.organizationId);
  const renewed = await withLiveCredentials(context, firmSeed, accounts);
  expect(renewed).toEqual(accounts);
});
