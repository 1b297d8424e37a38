import { formatGid, isAccountName } from '@deedwire/domain';
import { insertOrganization } from '@deedwire/store';

import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

export interface Organization {
  id: string;
  name: string;
}

/** @throws RefusedError `INVALID` */
export async function createOrganization(context: ActionContext, input: { name: string }): Promise<Organization> {
  if (!isAccountName(input.name))
    throw new RefusedError('INVALID', 'The name must be 1 to 200 characters and not blank.');
  const row = await insertOrganization(context.store, input.name);
  return { id: formatGid(context.gidNamespace, 'Organization', row.id), name: row.name };
}
