import { formatAccountGid } from '@deedwire/domain';
import type { ActionContext, Caller } from '../context.ts';
import type { Lender } from './account.ts';
import { readOwnAccount } from './read-own-account.ts';

/** The lender that calls. */
export async function readLender(context: ActionContext, caller: Caller): Promise<Lender> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context.gidNamespace, account.interfaceName, account.id), name: account.name };
}
