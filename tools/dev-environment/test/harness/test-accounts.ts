import { type Caller, type OperatorContext, setClientLimit } from '@deedwire/actions';
import { toRecordId } from '@deedwire/core';
import type { InterfaceName } from '@deedwire/firm';
import { type Client, createClient } from '@deedwire/testing';
import type { DevAccount, DevSeed } from '../../src/dev-state.ts';
import * as ownSeeding from '../../src/seed.ts';

export type TestAccount = DevAccount & Caller;

export type TestAccounts = Record<keyof DevSeed, TestAccount>;

/** Creates the accounts that `seed` creates. Each can send any number of requests. */
export async function createTestAccounts(
  operator: OperatorContext,
  { seed }: Pick<ownSeeding.Seeding, 'seed'> = ownSeeding,
): Promise<TestAccounts> {
  const entries = Object.entries(await seed(operator)).map(([key, account]): [string, TestAccount] => {
    const { clientId } = account.credential;
    return [key, { ...account, clientId, accountId: toRecordId(account.id.split('/').at(-1) ?? '') }];
  });
  for (const [, { clientId }] of entries) await raiseLimit(operator, clientId);
  return Object.fromEntries(entries) as TestAccounts;
}

/** One client per account. */
export function createClients(
  urls: Record<InterfaceName, string>,
  accounts: TestAccounts,
): Record<keyof TestAccounts, Client> {
  const entries = Object.entries(accounts).map(([key, { interfaceName, credential }]) => [
    key,
    createClient(urls[interfaceName], credential),
  ]);
  return Object.fromEntries(entries) as Record<keyof TestAccounts, Client>;
}

/** Lets a client send more than a test can, for tests that are not about rate limits. */
export async function raiseLimit(operator: OperatorContext, clientId: string): Promise<void> {
  await setClientLimit(operator, { clientId, maximum: 1_000_000, restoreRate: 1_000_000 });
}
