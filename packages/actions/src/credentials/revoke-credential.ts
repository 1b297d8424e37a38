import { revokeApiKey } from '@deedwire/store/credentials';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';

/**
 * Revokes a key. Every process rejects it within a second. A key that is already revoked keeps its time of revocation.
 *
 * @throws {RefusedError} `NOT_FOUND` if the key does not exist
 */
export async function revokeCredential(
  context: ActionContext,
  input: { keyId: string },
): Promise<{ keyId: string; revokedAt: Date }> {
  const row = await revokeApiKey(context.store, input.keyId);
  if (row === null) throw new RefusedError('NOT_FOUND', `The key ${input.keyId} does not exist.`);
  return { keyId: input.keyId, revokedAt: row.revokedAt };
}
