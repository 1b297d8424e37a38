import type { InterfaceName } from '@deedwire/domain';
import { selectApiKeys } from '@deedwire/store/credentials';
import { findAccount } from '../accounts/find-account.ts';
import type { ActionContext } from '../context.ts';
import { toCredential, type Credential } from './credential.ts';

/**
 * The keys of an account, grouped by client, oldest first.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function listCredentials(
  context: ActionContext,
  input: { interfaceName: InterfaceName; accountId: string },
): Promise<Credential[]> {
  const account = await findAccount(context, input.interfaceName, input.accountId);
  return (await selectApiKeys(context.store, account.id)).map(toCredential);
}
