import { lockApiClient, updateApiClientVersion } from '@deedwire/store/credentials';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { checkInterfaceVersion } from './interface-versions.ts';

/**
 * Pins a client to an interface version: the version of its requests that name none. Every process serves it within a second.
 *
 * @throws {RefusedError} `NOT_FOUND` if the client does not exist, `INVALID` if the version is unknown or retired
 */
export async function pinClient(
  context: ActionContext,
  input: { clientId: string; schemaVersion: string },
): Promise<{ clientId: string; schemaVersion: string; previousSchemaVersion: string }> {
  const previousSchemaVersion = await context.store.transaction(async (transaction) => {
    const client = await lockApiClient(transaction, input.clientId);
    if (client === null) throw new RefusedError('NOT_FOUND', `The client ${input.clientId} does not exist.`);
    checkInterfaceVersion(client.interfaceName, input.schemaVersion, context.now());
    await updateApiClientVersion(transaction, client.id, input.schemaVersion);
    return client.schemaVersion;
  });
  return { ...input, previousSchemaVersion };
}
