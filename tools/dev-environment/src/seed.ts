import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { listCredentials, systemRandom, type OperatorContext } from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { firm } from '@deedwire/firm';
import { ensureOpenReferrals, sampleNames, seedRecords } from '@deedwire/firm/seed';
import { createStore, type Store } from '@deedwire/store';
import type { DevAccount, DevSeed } from './dev-state.ts';
import { ofAccounts } from './firm-system.ts';
import { newAccount, seedAccounts, withNewCredential } from './sample-accounts.ts';

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
