import { type OperatorContext, RefusedError } from '@deedwire/actions';
import { appendEvent, checkName, nameOperator } from '@deedwire/actions/use-case';
import { changedPaths, parseAccountGid } from '@deedwire/core';
import { lockAccount, updateAccountName } from '@deedwire/store/accounts';
import { lenderUpdated } from '../events/lender.updated/event.ts';

/**
 * Renames a lender. Appends `lender.updated`, unless the name stays the same.
 *
 * @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the lender does not exist
 */
export async function updateLender(
  context: OperatorContext,
  input: { lenderId: string; name: string },
): Promise<{ id: string; name: string }> {
  checkName(input.name);
  const id = parseAccountGid(context, 'lender', input.lenderId);
  await context.store.transaction(async (transaction) => {
    const account = id === null ? null : await lockAccount(transaction, 'lender', id);
    if (account === null) throw new RefusedError('NOT_FOUND', `The lender ${input.lenderId} does not exist.`);
    const before = { lender: { id: input.lenderId, name: account.name } };
    const after = { lender: { id: input.lenderId, name: input.name } };
    const snapshot = { ...after, changed: changedPaths(before, after) };
    if (snapshot.changed.length === 0) return;
    await nameOperator(transaction, context.operator, 'lender.update');
    await updateAccountName(transaction, account.id, input.name);
    await appendEvent(context, transaction, account, lenderUpdated, snapshot);
  });
  return { id: input.lenderId, name: input.name };
}
