import { formatGid } from '@deedwire/domain';
import { insertOrganization } from '@deedwire/store/accounts';
import { checkName } from '../check-name.ts';
import type { ActionContext } from '../context.ts';

export interface Organization {
  id: string;
  name: string;
}

/** @throws {RefusedError} `INVALID` if the name is blank or too long */
export async function createOrganization(context: ActionContext, input: { name: string }): Promise<Organization> {
  checkName(input.name);
  const row = await insertOrganization(context.store, input.name);
  return { id: formatGid(context.gidNamespace, 'Organization', row.id), name: row.name };
}
