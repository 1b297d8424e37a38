import { createOrganization, listOrganizations, type OperatorContext } from '@deedwire/actions';
import { interfaceNamesOf } from '@deedwire/core';
import { type DevAccount, type DevAccounts, withLiveCredential } from '@deedwire/development';
import type { Seed } from '@deedwire/operator';
import { otherKeyOf } from './account-key.ts';
import { newAccount } from './sample-accounts.ts';

/** Creates the organizations of a new database with an account of each interface, a credential for each account, and the records. */
export async function seedDatabase(context: OperatorContext, seed: Seed): Promise<DevAccounts> {
  const [name = 'Sample Organization', otherName] = seed.organizations ?? [];
  const only = seed.organizations === undefined ? await findOnlyOrganization(context) : null;
  const { id } = only ?? (await createOrganization(context, { name }));
  const other = otherName === undefined ? null : await createOrganization(context, { name: otherName });
  const accounts = await completeAccounts(context, seed, { known: {}, id, otherId: other?.id ?? null });
  await seed.createRecords?.(context, accounts);
  return accounts;
}

/** An application that names no organization creates its accounts in the only one, so that it stays the only one. */
async function findOnlyOrganization(context: OperatorContext): Promise<{ id: string } | null> {
  const { edges } = await listOrganizations(context, { nameContains: null, first: 2 });
  const [first, second] = edges;
  return first === undefined || second !== undefined ? null : first.node;
}

/**
 * Returns the accounts with valid credentials. A revoked or expired credential is replaced by a new one, and an interface that was added
 * gets its accounts.
 */
export async function withLiveCredentials(
  context: OperatorContext,
  seed: Seed,
  known: DevAccounts,
): Promise<DevAccounts> {
  const ids = Object.values(known).map(({ credential }) => credential.organizationId);
  const [id = ''] = ids;
  return completeAccounts(context, seed, { known, id, otherId: ids.findLast((each) => each !== id) ?? null });
}

/** @param organizations `otherId` is null without a second organization */
async function completeAccounts(
  context: OperatorContext,
  { accountNames = {} }: Seed,
  { known, id, otherId }: { known: DevAccounts; id: string; otherId: string | null },
): Promise<DevAccounts> {
  const accounts: Record<string, DevAccount> = {};
  const names = interfaceNamesOf(context.service);
  const complete = async (key: string, name: string, organizationId: string): Promise<void> => {
    const account = known[key];
    accounts[key] =
      account === undefined
        ? await newAccount(context, key, name, organizationId, accountNames)
        : await withLiveCredential(context, account);
  };
  for (const name of names) await complete(name, name, id);
  if (otherId !== null) for (const name of names) await complete(otherKeyOf(context.service, name), name, otherId);
  return accounts;
}
