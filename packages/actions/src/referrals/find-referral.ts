import { parseGid } from '@deedwire/domain';
import { selectReferral } from '@deedwire/store/referrals';
import type { ActionContext, Caller } from '../context.ts';
import { toReferral, type Referral } from './referral.ts';

/** A referral of the caller. Null if the caller has no referral with this identifier. */
export async function findReferral(context: ActionContext, caller: Caller, gid: string): Promise<Referral | null> {
  const id = parseGid(context.gidNamespace, 'Referral', gid);
  const row = id === null ? null : await selectReferral(context.store, caller.accountId, id);
  return row === null ? null : toReferral(context.gidNamespace, row);
}
