import { limitApiKeyLife, updateApiKeyExpiry } from '@deedwire/store/credentials';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { checkExpiry } from './check-expiry.ts';
import { lockLiveKey } from './lock-live-key.ts';

/**
 * Sets the time from which a key is rejected.
 *
 * @param input.expiresAt null: now. Every process then rejects the key within a second.
 * @throws {RefusedError} `NOT_FOUND` if the key does not exist, `CONFLICT` if it is revoked or has expired, `INVALID` if the time
 * is not in the future
 */
export async function expireCredential(
  context: OperatorContext,
  input: { keyId: string; expiresAt: Date | null },
): Promise<{ keyId: string; expiresAt: Date }> {
  const { keyId } = input;
  checkExpiry(input.expiresAt, context.now());
  return context.store.transaction(async (transaction) => {
    const key = await lockLiveKey(transaction, keyId);
    if (input.expiresAt !== null) await updateApiKeyExpiry(transaction, keyId, input.expiresAt);
    const expiresAt = input.expiresAt ?? (await limitApiKeyLife(transaction, keyId, 0)).expiresAt;
    await appendAuditEntry(transaction, context.operator, {
      action: 'credential.expire',
      subject: keyId,
      account: { id: key.accountId, interfaceName: key.interfaceName },
      details: { clientId: key.clientId, expiresAt },
    });
    return { keyId, expiresAt };
  });
}
