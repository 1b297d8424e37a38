import type { ActionContext, Caller } from '@deedwire/actions';
import { readOwnAccount } from '@deedwire/actions/use-case';
import { formatAccountGid } from '@deedwire/core';

/** `Partner` of the partner interface. */
export interface Partner {
  id: string;
  name: string;
}

/** The calling partner. */
export async function readPartner(context: ActionContext, caller: Caller): Promise<Partner> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context, account.interfaceName, account.id), name: account.name };
}
