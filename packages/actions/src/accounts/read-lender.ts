import { formatAccountGid } from '@deedwire/domain';
import type { ActionContext, Caller } from '../context.ts';
import { readOwnAccount } from './read-own-account.ts';
import type { Lender } from './records.ts';

/** The caller's own lender organization. */
export async function readLender(context: ActionContext, caller: Caller): Promise<Lender> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context.gidNamespace, account.interfaceName, account.id), name: account.name };
}
