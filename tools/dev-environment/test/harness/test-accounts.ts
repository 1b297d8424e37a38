import { type Caller, type OperatorContext, setClientLimit } from '@deedwire/actions';
import { type InterfaceName, toRecordId } from '@deedwire/domain';
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
  const seeded = await seed(operator);
  const accounts = await ownSeeding.ofAccounts((name): TestAccount => {
    const { clientId } = seeded[name].credential;
    return { ...seeded[name], clientId, accountId: toRecordId(seeded[name].id.split('/').at(-1) ?? '') };
  });
  for (const { clientId } of Object.values(accounts)) await raiseLimit(operator, clientId);
  return accounts;
}

/** One client per account. */
export function createClients(
  urls: Record<InterfaceName, string>,
  accounts: TestAccounts,
): Promise<Record<keyof TestAccounts, Client>> {
  return ownSeeding.ofAccounts((name) => {
    const { interfaceName, credential } = accounts[name];
    return createClient(urls[interfaceName], credential);
  });
}

/** Lets a client send more than a test can, for tests that are not about rate limits. */
export async function raiseLimit(operator: OperatorContext, clientId: string): Promise<void> {
  await setClientLimit(operator, { clientId, maximum: 1_000_000, restoreRate: 1_000_000 });
}
