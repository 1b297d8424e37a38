import { lockApiClient, updateApiClientVersion } from '@deedwire/store/credentials';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { checkInterfaceVersion } from './interface-versions.ts';

/**
 * Pins a client to an interface version: the version of its requests that name none. Every process serves it within a second.
 *
 * @throws {RefusedError} `NOT_FOUND` if the client does not exist, `INVALID` if the version is unknown or retired
 */
export async function pinClient(
  context: OperatorContext,
  input: { clientId: string; schemaVersion: string },
): Promise<{ clientId: string; schemaVersion: string; previousSchemaVersion: string }> {
  const previousSchemaVersion = await context.store.transaction(async (transaction) => {
    const client = await lockApiClient(transaction, input.clientId);
    if (client === null) throw new RefusedError('NOT_FOUND', `The client ${input.clientId} does not exist.`);
    checkInterfaceVersion(client.interfaceName, input.schemaVersion, context.now());
    await updateApiClientVersion(transaction, client.id, input.schemaVersion);
    await appendAuditEntry(transaction, context.operator, {
      action: 'client.pin',
      subject: input.clientId,
      account: { id: client.accountId, interfaceName: client.interfaceName },
      details: { schemaVersion: input.schemaVersion, previousSchemaVersion: client.schemaVersion },
    });
    return client.schemaVersion;
  });
  return { ...input, previousSchemaVersion };
}
