import { interfaceOf } from '@deedwire/core';
import { type DevAccount, withNewCredential, type withSeedContext } from '@deedwire/development';
import { onlyRow, sql } from '@deedwire/store';

export type SeedContext = Parameters<Parameters<typeof withSeedContext>[2]>[0];

/**
 * Creates an account of an interface, unless there is one of this id, and an API key of it.
 *
 * @param externalId the id by which the application knows the account
 */
export async function createAccountWithKey(
  context: SeedContext,
  interfaceName: string,
  externalId: string,
): Promise<DevAccount> {
  const { store, service } = context;
  const statement = sql('dev-create-account')`select create_account($1, $2, $3) as id`;
  const values = [interfaceName, externalId, `${interfaceOf(service, interfaceName).title} One`];
  const { id } = onlyRow(await store.query<{ id: string }>(statement, values));
  return withNewCredential(context, interfaceName, id);
}
