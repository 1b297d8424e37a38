import { formatAccountGid } from '@deedwire/domain';
import type { ActionContext, Caller } from '../context.ts';
import type { Partner } from './account.ts';
import { readOwnAccount } from './read-own-account.ts';

/** The calling partner. */
export async function readPartner(context: ActionContext, caller: Caller): Promise<Partner> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context.gidNamespace, account.interfaceName, account.id), name: account.name };
}
