import type { RecordId } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { countLiveApiKeys } from '@deedwire/store/credentials';
import { RefusedError } from '../errors.ts';

const liveKeysPerClient = 5;

/**
 * The client must be locked, so that the count stays valid.
 *
 * @throws {RefusedError} `LIMIT_REACHED` if the client cannot have another live key
 */
export async function checkLiveKeys(transaction: Transaction, apiClientId: RecordId<'ApiClient'>): Promise<void> {
  const found = await countLiveApiKeys(transaction, apiClientId);
  if (found < liveKeysPerClient) return;
  throw new RefusedError(
    'LIMIT_REACHED',
    `The client has ${found} live keys; at most ${liveKeysPerClient} are allowed. Revoke one first.`,
  );
}
