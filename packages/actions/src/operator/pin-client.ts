import { lockApiClient, updateApiClientVersion } from '@deedwire/store/credentials';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { checkInterfaceVersion } from '../interface-versions.ts';

/**
 * Moves the interface version that counts when a client's requests name none. Every process serves it within a second.
 *
 * @throws RefusedError `NOT_FOUND`; `INVALID` for a version that is unknown or retired
 */
export async function pinClient(
  context: ActionContext,
  input: { clientId: string; schemaVersion: string },
): Promise<{ clientId: string; schemaVersion: string; previousSchemaVersion: string }> {
  const previousSchemaVersion = await context.store.transaction(async (transaction) => {
    const client = await lockApiClient(transaction, input.clientId);
    if (client === null) throw new RefusedError('NOT_FOUND', `There is no client ${input.clientId}.`);
    checkInterfaceVersion(client.interfaceName, input.schemaVersion, new Date());
    await updateApiClientVersion(transaction, client.id, input.schemaVersion);
    return client.schemaVersion;
  });
  return { ...input, previousSchemaVersion };
}
