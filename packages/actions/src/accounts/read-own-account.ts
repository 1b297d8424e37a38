import { selectAccount, type AccountRow } from '@deedwire/store/accounts';
import type { ActionContext, Caller } from '../context.ts';

/** The account of the caller, which exists: accounts are never deleted. */
export async function readOwnAccount(context: ActionContext, caller: Caller): Promise<AccountRow> {
  const account = await selectAccount(context.store, caller.interfaceName, caller.accountId);
  if (account === null) throw new Error(`Account ${caller.accountId} has credentials but does not exist.`);
  return account;
}
