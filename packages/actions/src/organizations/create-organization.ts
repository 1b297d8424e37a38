import { formatGid } from '@deedwire/domain';
import { insertOrganization } from '@deedwire/store/accounts';
import { appendAuditEntry } from '../append-audit-entry.ts';
import { checkName } from '../check-name.ts';
import type { OperatorContext } from '../context.ts';

export interface Organization {
  id: string;
  name: string;
}

/** @throws {RefusedError} `INVALID` if the name is blank or too long */
export async function createOrganization(context: OperatorContext, input: { name: string }): Promise<Organization> {
  checkName(input.name);
  return context.store.transaction(async (transaction) => {
    const row = await insertOrganization(transaction, input.name);
    const id = formatGid(context.gidNamespace, 'Organization', row.id);
    await appendAuditEntry(transaction, context.operator, {
      action: 'organization.create',
      subject: id,
      account: null,
    });
    return { id, name: row.name };
  });
}
