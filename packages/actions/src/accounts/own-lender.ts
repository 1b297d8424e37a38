import { formatAccountGid } from '@deedwire/domain';
import type { Caller, LenderContext } from '../context.ts';

/** The calling lender, without the fields that must be read. */
export interface OwnLender {
  id: string;
}

export function ownLender({ gidNamespace }: LenderContext, caller: Caller): OwnLender {
  return { id: formatAccountGid(gidNamespace, 'lender', caller.accountId) };
}

export async function readLenderName({ lenders }: LenderContext, caller: Caller): Promise<string> {
  return lenders.readName(caller.accountId);
}
