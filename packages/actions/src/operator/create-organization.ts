import { formatGid } from '@deedwire/domain';
import { insertOrganization } from '@deedwire/store/accounts';
import type { ActionContext } from '../context.ts';
import { checkAccountName } from './check-account-name.ts';

export interface Organization {
  id: string;
  name: string;
}

/** @throws RefusedError `INVALID` */
export async function createOrganization(context: ActionContext, input: { name: string }): Promise<Organization> {
  checkAccountName(input.name);
  const row = await insertOrganization(context.store, input.name);
  return { id: formatGid(context.gidNamespace, 'Organization', row.id), name: row.name };
}
