import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { insertAuditEntry } from '@deedwire/store/audit';
import type { Caller, Operator } from './context.ts';

export interface AuditedChange {
  /** `<noun>.<verb>`, the noun and the verb of the operator's command if there is one. */
  action: string;
  /** The identifier of the changed record: a global identifier, a client id or a key id. */
  subject: string;
  /** The account that the record belongs to. Null for an organization. */
  account: { id: AccountId; interfaceName: InterfaceName } | null;
  /** Further details of the change. Must contain no secrets and no personal data. */
  details?: object;
}

/** Records who made a change, in the transaction of the change. */
export async function appendAuditEntry(
  transaction: Transaction,
  by: Caller | Operator,
  { action, subject, account, details = {} }: AuditedChange,
): Promise<void> {
  const actor =
    'clientId' in by
      ? { actorType: 'CLIENT' as const, actor: by.clientId, address: by.address ?? null }
      : { actorType: 'OPERATOR' as const, actor: by.name, address: by.host };
  await insertAuditEntry(transaction, { ...actor, requestId: by.requestId ?? null, action, subject, account, details });
}
