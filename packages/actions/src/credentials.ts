import type { StoredApiKey } from '@deedwire/auth';
import { formatGid, type InterfaceName } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import {
  type ApiKeyRow,
  limitApiKeyLife,
  lockApiKey,
  type LockedApiKeyRow,
  revokeApiKey,
  selectApiKey,
  selectApiKeys,
  updateApiKeyExpiry,
  updateApiKeyLastUse,
} from '@deedwire/store/credentials';
import { findAccount } from './accounts.ts';
import { nameOperator } from './audit.ts';
import type { ActionContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';

/** An API key without its secret, and its client. */
export interface Credential {
  clientId: string;
  /** The interface version that the client is pinned to. */
  schemaVersion: string;
  /** The cost points of the client's full bucket. */
  costMaximum: number;
  /** The cost points that the client regains in a second. */
  costRestoreRate: number;
  keyId: string;
  createdAt: Date;
  /** Null if the key does not expire. */
  expiresAt: Date | null;
  /** Null unless the key is revoked. */
  revokedAt: Date | null;
  /** Accurate to the minute. Null if the key has never been used. */
  lastUsedAt: Date | null;
}

function toCredential(row: ApiKeyRow): Credential {
  return {
    clientId: row.clientId,
    schemaVersion: row.schemaVersion,
    costMaximum: row.costMaximum,
    costRestoreRate: row.costRestoreRate,
    keyId: row.keyId,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    lastUsedAt: row.lastUsedAt,
  };
}

/**
 * The keys of an account, grouped by client, oldest first.
 *
 * @param input.interfaceName undefined: that of the account
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function listCredentials(
  context: ActionContext,
  input: { interfaceName?: InterfaceName | undefined; accountId: string },
): Promise<Credential[]> {
  const account = await findAccount(context, input.interfaceName ?? null, input.accountId);
  return (await selectApiKeys(context.store, account.id)).map(toCredential);
}

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

/** Records when a key was last used. An earlier time than the recorded one changes nothing. */
export async function recordApiKeyUse(context: ActionContext, keyId: string, at: Date): Promise<void> {
  await updateApiKeyLastUse(context.store, keyId, at);
}

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
    await lockLiveKey(transaction, keyId);
    await nameOperator(transaction, context.operator, 'credential.expire');
    if (input.expiresAt !== null) await updateApiKeyExpiry(transaction, keyId, input.expiresAt);
    const expiresAt = input.expiresAt ?? (await limitApiKeyLife(transaction, keyId, 0)).expiresAt;
    return { keyId, expiresAt };
  });
}

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
    await nameOperator(transaction, context.operator, 'credential.revoke');
    const { revokedAt } = await revokeApiKey(transaction, keyId);
    return { keyId, revokedAt };
  });
}

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

/** @throws {RefusedError} `INVALID` if the time from which a key is to be rejected is not in the future */
export function checkExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw new RefusedError('INVALID', `The expiry must be in the future; it is ${expiresAt.toISOString()}.`);
  }
}
