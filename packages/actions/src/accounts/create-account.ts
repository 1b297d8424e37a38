import { formatAccountGid, parseGid, type InterfaceName } from '@deedwire/domain';
import { insertAccount, organizationExists } from '@deedwire/store/accounts';
import { checkName } from '../check-name.ts';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

/** @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the organization does not exist */
export async function createAccount(
  context: ActionContext,
  interfaceName: InterfaceName,
  input: { organizationId: string; name: string },
): Promise<{ id: string; name: string }> {
  checkName(input.name);
  const organizationId = parseGid(context.gidNamespace, 'Organization', input.organizationId);
  if (organizationId === null || !(await organizationExists(context.store, organizationId))) {
    throw new RefusedError('NOT_FOUND', `The organization ${input.organizationId} does not exist.`);
  }
  const row = await insertAccount(context.store, { interfaceName, organizationId, name: input.name });
  return { id: formatAccountGid(context.gidNamespace, interfaceName, row.id), name: row.name };
}
