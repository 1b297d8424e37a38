import { parseGid } from '@deedwire/domain';
import { lockAccount, updateAccountName } from '@deedwire/store/accounts';
import type { Lender } from '../accounts/records.ts';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { appendEvent } from '../events/append-event.ts';
import { checkAccountName } from './check-account-name.ts';

/**
 * Renames a lender. Reports `lender.updated`, unless the name is the one it has.
 *
 * @throws RefusedError `INVALID`, `NOT_FOUND`
 */
export async function updateLender(context: ActionContext, input: { lenderId: string; name: string }): Promise<Lender> {
  checkAccountName(input.name);
  const id = parseGid(context.gidNamespace, 'Lender', input.lenderId);
  await context.store.transaction(async (transaction) => {
    const account = id === null ? null : await lockAccount(transaction, 'lender', id);
    if (account === null) throw new RefusedError('NOT_FOUND', `There is no lender ${input.lenderId}.`);
    if (account.name === input.name) return;
    await updateAccountName(transaction, account.id, input.name);
    await appendEvent(transaction, { id: account.id, interfaceName: 'lender' }, 'lender.updated', {
      lender: { id: input.lenderId, name: input.name },
    });
  });
  return { id: input.lenderId, name: input.name };
}
