import type { ActionContext, Caller } from '@deedwire/actions';
import { formatAccountGid } from '@deedwire/core';
import type { LenderContext } from './lender-reader.ts';

/** The calling lender, without the fields that must be read. */
export interface OwnLender {
  id: string;
}

export function ownLender(context: ActionContext, caller: Caller): OwnLender {
  return { id: formatAccountGid(context, 'lender', caller.accountId) };
}

export function readLenderName({ lenders }: LenderContext, caller: Caller): Promise<string> {
  return lenders.readName(caller.accountId);
}
