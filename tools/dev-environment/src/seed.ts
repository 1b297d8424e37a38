import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createAccount,
  createOrganization,
  issueCredential,
  listCredentials,
  systemRandom,
  type OperatorContext,
} from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { interfaceOf, type Service } from '@deedwire/core';
import { firm } from '@deedwire/firm';
import { ensureOpenReferrals, sampleNames, seedRecords } from '@deedwire/firm/seed';
import { createStore, type Store } from '@deedwire/store';
import { type AccountKeyOf, ofAccounts, ofAccountsOf } from './account-key.ts';
import type { NameOf } from './application.ts';
import type { DevAccount, DevSeed } from './dev-state.ts';

/** An account of an interface, with an API key. */
export interface SampleAccount<Name extends string = string> extends Omit<DevAccount, 'interfaceName'> {
  interfaceName: Name;
}

export type SampleAccounts<Served extends Service> = Record<AccountKeyOf<Served>, SampleAccount<NameOf<Served>>>;

// The harness takes it from here: that of another release is in the same file.
export { ensureOpenReferrals };

/** The context of an operator who seeds a database. */
export function seedContext(store: Store, gidNamespace: string): OperatorContext {
  const operator = { name: 'seed', host: hostname(), requestId: randomUUID() };
  return { store, service: firm, gidNamespace, now: () => new Date(), random: systemRandom, operator };
}

/** Opens a store for the work of this operator, and closes it afterwards. */
export async function withSeedContext<Result>(
  databaseUrl: string,
  gidNamespace: string,
  work: (context: OperatorContext) => Promise<Result>,
): Promise<Result> {
  const store = createStore({ databaseUrl, tables: firm.tables, applicationName: 'deedwire-dev' });
  try {
    return await work(seedContext(store, gidNamespace));
  } finally {
    await store.close();
  }
}

/** Creates two organizations, each with an account of each interface, and a credential for each account. */
export async function seed(context: OperatorContext): Promise<DevSeed> {
  const accounts = await seedAccounts(context, firm, ['Harbour Conveyancing', 'Moorland Legal'], sampleNames);
  await seedRecords(context, accounts);
  return accounts;
}

/** As `seed`, without the records of the law firm. */
export async function seedAccounts<Served extends Service>(
  context: OperatorContext,
  service: Served,
  [name, otherName]: readonly [name: string, otherName: string],
  accountNames: Readonly<Record<string, string>> = {},
): Promise<SampleAccounts<Served>> {
  const { id } = await createOrganization(context, { name });
  const { id: otherId } = await createOrganization(context, { name: otherName });
  return ofAccountsOf(service, (key, interfaceName) =>
    newAccount(context, key, interfaceName, key === interfaceName ? id : otherId, accountNames),
  );
}

async function newAccount<Name extends string>(
  context: OperatorContext,
  key: string,
  interfaceName: Name,
  organizationId: string,
  accountNames: Readonly<Record<string, string>>,
): Promise<SampleAccount<Name>> {
  const { title } = interfaceOf(context.service, interfaceName);
  const name = accountNames[key] ?? `${title} ${key === interfaceName ? 'One' : 'Two'}`;
  const { id } = await createAccount(context, interfaceName, { organizationId, name });
  return withNewCredential(context, interfaceName, id);
}

async function withNewCredential<Name extends string>(
  context: OperatorContext,
  interfaceName: Name,
  id: string,
): Promise<SampleAccount<Name>> {
  const credential = await issueCredential(context, { interfaceName, accountId: id, clientId: null });
  return { interfaceName, id, credential };
}

/**
 * Returns the accounts with valid credentials. A revoked or expired credential is replaced by a new one, and an interface that was added
 * gets its accounts.
 */
export async function withLiveCredentials(
  context: OperatorContext,
  accounts: Readonly<Partial<Record<string, DevAccount>>>,
): Promise<DevSeed> {
  const known = Object.values(accounts).flatMap((account) => account?.credential.organizationId ?? []);
  return ofAccounts((key, name) => {
    const account = accounts[key];
    const organizationId = key === name ? known.at(0) : known.at(-1);
    return account === undefined
      ? newAccount(context, key, name, organizationId ?? '', sampleNames)
      : withLiveCredential(context, account);
  });
}

async function withLiveCredential(context: OperatorContext, account: DevAccount): Promise<DevAccount> {
  const { interfaceName, id, credential } = account;
  const keyId = parseApiKey(firm, credential.apiKey)?.keyId;
  const now = new Date();
  const live = (await listCredentials(context, { interfaceName, accountId: id })).some(
    (key) => key.keyId === keyId && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now),
  );
  return live ? account : withNewCredential(context, interfaceName, id);
}
