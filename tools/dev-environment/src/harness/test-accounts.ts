import { type Caller, type OperatorContext, setClientLimit } from '@deedwire/actions';
import { toRecordId } from '@deedwire/domain';
import { type Client, createClient } from '@deedwire/testing';
import type { DevAccount, DevSeed } from '../dev-state.ts';
import { seed } from '../seed.ts';

export type TestAccount = DevAccount & Caller;

export type TestAccounts = Record<keyof DevSeed, TestAccount>;

/** Creates the accounts that `seed` creates. Each can send any number of requests. */
export async function createTestAccounts(operator: OperatorContext): Promise<TestAccounts> {
  const { lender, partner, otherLender, otherPartner } = await seed(operator);
  const accounts = {
    lender: withAccountId(lender),
    partner: withAccountId(partner),
    otherLender: withAccountId(otherLender),
    otherPartner: withAccountId(otherPartner),
  };
  for (const { clientId } of Object.values(accounts)) await raiseLimit(operator, clientId);
  return accounts;
}

function withAccountId(account: DevAccount): TestAccount {
  const { clientId } = account.credential;
  return { ...account, clientId, accountId: toRecordId(account.id.split('/').at(-1) ?? '') };
}

/** The URL of each interface, including its path. */
export interface InterfaceUrls {
  lender: string;
  partner: string;
}

/** One client per account. */
export function createClients(urls: InterfaceUrls, accounts: TestAccounts): Record<keyof TestAccounts, Client> {
  return {
    lender: createClient(urls.lender, accounts.lender.credential),
    partner: createClient(urls.partner, accounts.partner.credential),
    otherLender: createClient(urls.lender, accounts.otherLender.credential),
    otherPartner: createClient(urls.partner, accounts.otherPartner.credential),
  };
}

/** Lets a client send more than a test can, for tests that are not about rate limits. */
export async function raiseLimit(operator: OperatorContext, clientId: string): Promise<void> {
  await setClientLimit(operator, { clientId, maximum: 1_000_000, restoreRate: 1_000_000 });
}
