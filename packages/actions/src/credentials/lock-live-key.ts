import type { Transaction } from '@deedwire/store';
import { lockApiKey, type LockedApiKeyRow } from '@deedwire/store/credentials';
import { RefusedError } from '../errors.ts';

/**
 * Locks a key that is accepted, and its client.
 *
 * @throws {RefusedError} `NOT_FOUND` if the key does not exist, `CONFLICT` if it is revoked or has expired
 */
export async function lockLiveKey(transaction: Transaction, keyId: string): Promise<LockedApiKeyRow> {
  const key = await lockApiKey(transaction, keyId);
  if (key === null) throw new RefusedError('NOT_FOUND', `The key ${keyId} does not exist.`);
  if (!key.isLive) {
    throw new RefusedError('CONFLICT', `The key ${keyId} ${key.revokedAt === null ? 'has expired' : 'is revoked'}.`);
  }
  return key;
}
