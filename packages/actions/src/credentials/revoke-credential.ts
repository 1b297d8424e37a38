import { lockApiKey, revokeApiKey } from '@deedwire/store/credentials';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

/**
 * Revokes a key. Every process rejects it within a second. A key that is already revoked keeps its time of revocation.
 *
 * @throws {RefusedError} `NOT_FOUND` if the key does not exist
 */
export async function revokeCredential(
  context: OperatorContext,
  input: { keyId: string },
): Promise<{ keyId: string; revokedAt: Date }> {
  const { keyId } = input;
  return context.store.transaction(async (transaction) => {
    const key = await lockApiKey(transaction, keyId);
    if (key === null) throw new RefusedError('NOT_FOUND', `The key ${keyId} does not exist.`);
    if (key.revokedAt !== null) return { keyId, revokedAt: key.revokedAt };
    const { revokedAt } = await revokeApiKey(transaction, keyId);
    await appendAuditEntry(transaction, context.operator, {
      action: 'credential.revoke',
      subject: keyId,
      account: { id: key.accountId, interfaceName: key.interfaceName },
      details: { clientId: key.clientId },
    });
    return { keyId, revokedAt };
  });
}
