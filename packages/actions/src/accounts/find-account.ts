import { parseAccountGid, type InterfaceName } from '@deedwire/domain';
import { selectAccount, type AccountRow } from '@deedwire/store/accounts';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

/**
 * The account with this global identifier.
 *
 * @throws {RefusedError} `NOT_FOUND` if the interface has no such account
 */
export async function findAccount(
  context: ActionContext,
  interfaceName: InterfaceName,
  gid: string,
): Promise<AccountRow> {
  const id = parseAccountGid(context.gidNamespace, interfaceName, gid);
  const account = id === null ? null : await selectAccount(context.store, interfaceName, id);
  if (account === null) throw new RefusedError('NOT_FOUND', `The ${interfaceName} ${gid} does not exist.`);
  return account;
}
