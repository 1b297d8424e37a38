import { describeLength, formatGid, isAccountName } from '@deedwire/domain';
import { insertOrganization, selectOrganizations } from '@deedwire/store/accounts';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';
import { keysetPage, orderOfIds, type Page, type PageRequest } from './page.ts';

export interface Organization {
  id: string;
  name: string;
}

/**
 * All organizations, newest first.
 *
 * @param request.nameContains a part of the name, in any case. Null for all.
 * @throws {InvalidArgumentError} if `first` or `after` is invalid
 */
export async function listOrganizations(
  context: ActionContext,
  request: PageRequest & { nameContains: string | null },
): Promise<Page<Organization & { createdAt: Date }>> {
  return keysetPage(
    orderOfIds('organizations'),
    request,
    ({ after, limit }) => selectOrganizations(context.store, request.nameContains, { afterId: after, limit }),
    ({ id, name, createdAt }) => ({ id: formatGid(context.gidNamespace, 'Organization', id), name, createdAt }),
  );
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

/** @throws {RefusedError} `INVALID` if the name of an organization, a lender or a partner is blank or too long */
export function checkName(name: string): void {
  if (isAccountName(name)) return;
  throw new RefusedError(
    'INVALID',
    `The name must be 1 to 200 characters and not blank. It has ${describeLength(name)}.`,
  );
}
