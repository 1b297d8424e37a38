import { formatAccountGid, parseGid, type InterfaceName } from '@deedwire/domain';
import { insertAccount, organizationExists } from '@deedwire/store/accounts';
import { appendAuditEntry } from '../append-audit-entry.ts';
import { checkName } from '../check-name.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

/** @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the organization does not exist */
export async function createAccount(
  context: OperatorContext,
  interfaceName: InterfaceName,
  input: { organizationId: string; name: string },
): Promise<{ id: string; name: string }> {
  checkName(input.name);
  const organizationId = parseGid(context.gidNamespace, 'Organization', input.organizationId);
  if (organizationId === null || !(await organizationExists(context.store, organizationId))) {
    throw new RefusedError('NOT_FOUND', `The organization ${input.organizationId} does not exist.`);
  }
  return context.store.transaction(async (transaction) => {
    const account = await insertAccount(transaction, { interfaceName, organizationId, name: input.name });
    const id = formatAccountGid(context.gidNamespace, interfaceName, account.id);
    await appendAuditEntry(transaction, context.operator, { action: `${interfaceName}.create`, subject: id, account });
    return { id, name: account.name };
  });
}
