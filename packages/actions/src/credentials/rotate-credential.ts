import { generateApiKey } from '@deedwire/auth';
import { formatGid } from '@deedwire/domain';
import { insertApiKey, limitApiKeyLife } from '@deedwire/store/credentials';
import { appendAuditEntry } from '../append-audit-entry.ts';
import type { OperatorContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { checkExpiry } from './check-expiry.ts';
import { checkLiveKeys } from './check-live-keys.ts';
import type { IssuedCredential } from './issue-credential.ts';
import { lockLiveKey } from './lock-live-key.ts';

const overlapMaxSeconds = 30 * 86_400;

/**
 * Issues another key to the client of a key. Both keys are accepted during the overlap; then the old one expires, unless it
 * expires before.
 *
 * @param input.overlapSeconds 0 to 30 days
 * @param input.expiresAt the time from which the new key is rejected. Null: it does not expire.
 * @throws {RefusedError} `NOT_FOUND` if the key does not exist; `CONFLICT` if it is revoked or has expired; `LIMIT_REACHED` if
 * the client would have more than 5 live keys; `INVALID` if the overlap is out of range or the expiry is not in the future
 */
export async function rotateCredential(
  context: OperatorContext,
  input: { keyId: string; overlapSeconds: number; expiresAt: Date | null },
): Promise<IssuedCredential> {
  const { overlapSeconds, expiresAt } = input;
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > overlapMaxSeconds) {
    throw new RefusedError('INVALID', `The overlap must be 0 to 30 days; it is ${overlapSeconds} seconds.`);
  }
  checkExpiry(expiresAt, context.now());
  return context.store.transaction(async (transaction) => {
    const old = await lockLiveKey(transaction, input.keyId);
    const { apiClientId, clientId, interfaceName } = old;
    const { expiresAt: oldExpiresAt } = await limitApiKeyLife(transaction, input.keyId, overlapSeconds);
    await checkLiveKeys(transaction, apiClientId);
    const { apiKey, keyId, keyHash } = generateApiKey(interfaceName);
    await insertApiKey(transaction, { keyId, apiClientId, interfaceName, keyHash, expiresAt });
    await appendAuditEntry(transaction, context.operator, {
      action: 'credential.rotate',
      subject: input.keyId,
      account: { id: old.accountId, interfaceName },
      details: { clientId, expiresAt: oldExpiresAt, newKeyId: keyId, newExpiresAt: expiresAt },
    });
    return { clientId, apiKey, organizationId: formatGid(context.gidNamespace, 'Organization', old.organizationId) };
  });
}
