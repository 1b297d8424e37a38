import { type Caller, type OperatorContext, setClientLimit } from '@deedwire/actions';
import { type Service, toRecordId } from '@deedwire/core';
import { type Client, createClient } from '@deedwire/testing';
import type { AccountKeyOf } from '../../src/account-key.ts';
import type { NameOf } from '../../src/application.ts';
import type { SampleAccount } from '../../src/sample-accounts.ts';
import type { Seeding } from './tested-service.ts';

export type TestAccount<Name extends string = string> = SampleAccount<Name> & Caller;

export type TestAccountsOf<Served extends Service> = Record<AccountKeyOf<Served>, TestAccount<NameOf<Served>>>;

/** Creates the accounts that `seed` creates. Each can send any number of requests. */
export async function createTestAccounts<Served extends Service>(
  operator: OperatorContext,
  { seed }: Pick<Seeding<Served>, 'seed'>,
): Promise<TestAccountsOf<Served>> {
  const seeded = Object.entries<SampleAccount<NameOf<Served>>>(await seed(operator));
  const entries = seeded.map(([key, account]): [string, TestAccount<NameOf<Served>>] => {
    const { clientId } = account.credential;
    return [key, { ...account, clientId, accountId: toRecordId(account.id.split('/').at(-1) ?? '') }];
  });
  for (const [, { clientId }] of entries) await raiseLimit(operator, clientId);
  return Object.fromEntries(entries) as TestAccountsOf<Served>;
}

/** One client per account. */
export function createClients<Served extends Service>(
  urls: Record<NameOf<Served>, string>,
  accounts: TestAccountsOf<Served>,
): Record<AccountKeyOf<Served>, Client> {
  const entries = Object.entries<TestAccount<NameOf<Served>>>(accounts).map(
    ([key, { interfaceName, credential }]) => [key, createClient(urls[interfaceName], credential)] as const,
  );
  return Object.fromEntries(entries) as Record<AccountKeyOf<Served>, Client>;
}

/** Lets a client send more than a test can, for tests that are not about rate limits. */
export async function raiseLimit(operator: OperatorContext, clientId: string): Promise<void> {
  await setClientLimit(operator, { clientId, maximum: 1_000_000, restoreRate: 1_000_000 });
}
