import { formatAccountGid } from '@deedwire/domain';
import type { ActionContext, Caller } from '../context.ts';
import { readOwnAccount } from './read-own-account.ts';
import type { Partner } from './records.ts';

/** The caller's own partner organization. */
export async function readPartner(context: ActionContext, caller: Caller): Promise<Partner> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context.gidNamespace, account.interfaceName, account.id), name: account.name };
}
