import type { StoredApiKey } from '@deedwire/auth';
import { formatGid } from '@deedwire/domain';
import { selectApiKey } from '@deedwire/store/credentials';
import type { ActionContext } from '../context.ts';

/** The key with this id, for authentication. Null if the interface of the store's login has no such key. */
export async function findApiKey(context: ActionContext, keyId: string): Promise<StoredApiKey | null> {
  const row = await selectApiKey(context.store, keyId);
  if (row === null) return null;
  return {
    keyId: row.keyId,
    keyHash: row.keyHash,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    clientId: row.clientId,
    accountId: row.accountId,
    organizationId: formatGid(context.gidNamespace, 'Organization', row.organizationId),
    interfaceName: row.interfaceName,
    schemaVersion: row.schemaVersion,
    costLimit: { maximum: row.costMaximum, restoreRate: row.costRestoreRate },
  };
}
