import { formatAccountGid, parseGid, type InterfaceName } from '@deedwire/domain';
import { insertAccount, organizationExists } from '@deedwire/store/accounts';
import type { Lender, Partner } from '../accounts/records.ts';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { checkAccountName } from './check-account-name.ts';

/** @throws RefusedError `INVALID`, `NOT_FOUND` */
export async function createLender(
  context: ActionContext,
  input: { organizationId: string; name: string },
): Promise<Lender> {
  return createAccount(context, 'lender', input);
}

/** @throws RefusedError `INVALID`, `NOT_FOUND` */
export async function createPartner(
  context: ActionContext,
  input: { organizationId: string; name: string },
): Promise<Partner> {
  return createAccount(context, 'partner', input);
}

async function createAccount(
  context: ActionContext,
  interfaceName: InterfaceName,
  input: { organizationId: string; name: string },
): Promise<{ id: string; name: string }> {
  checkAccountName(input.name);
  const organizationId = parseGid(context.gidNamespace, 'Organization', input.organizationId);
  if (organizationId === null || !(await organizationExists(context.store, organizationId))) {
    throw new RefusedError('NOT_FOUND', `There is no organization ${input.organizationId}.`);
  }
  const row = await insertAccount(context.store, { interfaceName, organizationId, name: input.name });
  return { id: formatAccountGid(context.gidNamespace, interfaceName, row.id), name: row.name };
}
