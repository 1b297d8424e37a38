import { parseGid } from '@deedwire/domain';
import { lockAccount, updateAccountName } from '@deedwire/store/accounts';
import { appendAuditEntry } from '../append-audit-entry.ts';
import { appendEvent } from '../append-event.ts';
import { checkName } from '../check-name.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import type { Lender } from './account.ts';

/**
 * Renames a lender. Appends `lender.updated`, unless the name stays the same.
 *
 * @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the lender does not exist
 */
export async function updateLender(
  context: OperatorContext,
  input: { lenderId: string; name: string },
): Promise<Lender> {
  checkName(input.name);
  const id = parseGid(context.gidNamespace, 'Lender', input.lenderId);
  await context.store.transaction(async (transaction) => {
    const account = id === null ? null : await lockAccount(transaction, 'lender', id);
    if (account === null) throw new RefusedError('NOT_FOUND', `The lender ${input.lenderId} does not exist.`);
    if (account.name === input.name) return;
    await updateAccountName(transaction, account.id, input.name);
    await appendEvent(transaction, account, 'lender.updated', { lender: { id: input.lenderId, name: input.name } });
    await appendAuditEntry(transaction, context.operator, {
      action: 'lender.update',
      subject: input.lenderId,
      account,
    });
  });
  return { id: input.lenderId, name: input.name };
}
