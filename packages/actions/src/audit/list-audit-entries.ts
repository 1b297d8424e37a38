import { formatAccountGid } from '@deedwire/domain';
import { selectAuditEntries } from '@deedwire/store/audit';
import type { ActionContext } from '../context.ts';

/** A change that an operator or an API client made. */
export interface AuditEntry {
  at: Date;
  actorType: 'OPERATOR' | 'CLIENT';
  /** The name of the operator, or the id of the API client. */
  actor: string;
  /** The database login that wrote the entry. */
  login: string;
  /** The machine of the operator, or the address of the client. Null if it is not known. */
  address: string | null;
  requestId: string | null;
  /** For example `credential.issue`. */
  action: string;
  /** The identifier of the changed record. */
  subject: string;
  /** The global identifier of the lender or partner that the record belongs to. Null for an organization. */
  accountId: string | null;
  details: object;
}

/** The latest entries of the audit log, newest first. */
export async function listAuditEntries(context: ActionContext, input: { limit: number }): Promise<AuditEntry[]> {
  const rows = await selectAuditEntries(context.store, input.limit);
  return rows.map(({ accountId, interfaceName, ...entry }) => ({
    ...entry,
    accountId:
      accountId === null || interfaceName === null
        ? null
        : formatAccountGid(context.gidNamespace, interfaceName, accountId),
  }));
}
