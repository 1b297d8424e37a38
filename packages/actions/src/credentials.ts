import { type StoredApiKey, generateApiKey, storedHash } from '@deedwire/auth';
import {
  type Ability,
  abilities as inOrder,
  type AccountId,
  findAbilitiesFault,
  formatGid,
  type InterfaceName,
  type RecordId,
  usualAbilities,
} from '@deedwire/domain';
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
  countLiveApiKeys,
  insertApiClient,
  insertApiKey,
  lockApiClient,
} from '@deedwire/store/credentials';
import { findAccount } from './accounts.ts';
import { nameOperator } from './audit.ts';
import { checkInterfaceVersion, checkNotOfPortal, currentInterfaceVersion } from './clients.ts';
import type { ActionContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';

/** An API key without its secret, and its client. */
export type Credential = Pick<
  ApiKeyRow,
  | 'clientId'
  | 'schemaVersion'
  | 'costMaximum'
  | 'costRestoreRate'
  | 'keyId'
  | 'abilities'
  | 'createdAt'
  | 'expiresAt'
  | 'revokedAt'
  | 'lastUsedAt'
>;

function toCredential(row: ApiKeyRow): Credential {
  const { clientId, schemaVersion, costMaximum, costRestoreRate, keyId, abilities } = row;
  const { createdAt, expiresAt, revokedAt, lastUsedAt } = row;
  const ofClient = { clientId, schemaVersion, costMaximum, costRestoreRate };
  return { ...ofClient, keyId, abilities, createdAt, expiresAt, revokedAt, lastUsedAt };
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
  const { costMaximum: maximum, costRestoreRate: restoreRate, createdAt: _, lastUsedAt: __, ...key } = row;
  const organizationId = formatGid(context.gidNamespace, 'Organization', row.organizationId);
  const keyHash = storedHash(row.keyHash, row.abilities);
  return { ...key, keyHash, organizationId, costLimit: { maximum, restoreRate } };
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
async function lockLiveKey(transaction: Transaction, keyId: string): Promise<LockedApiKeyRow> {
  const key = await lockApiKey(transaction, keyId);
  if (key === null) throw new RefusedError('NOT_FOUND', `The key ${keyId} does not exist.`);
  if (!key.isLive) {
    throw new RefusedError('CONFLICT', `The key ${keyId} ${key.revokedAt === null ? 'has expired' : 'is revoked'}.`);
  }
  return key;
}

/** @throws {RefusedError} `INVALID` if the time from which a key is to be rejected is not in the future */
function checkExpiry(expiresAt: Date | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now) {
    throw new RefusedError('INVALID', `The expiry must be in the future; it is ${expiresAt.toISOString()}.`);
  }
}

/** The values of the three credential headers of a request. */
export interface IssuedCredential {
  clientId: string;
  /** Not stored: it cannot be shown again. */
  apiKey: string;
  organizationId: string;
}

/**
 * Issues an API key.
 *
 * @param input.interfaceName undefined: that of the account
 * @param input.clientId the client of the account that gets another key. Null creates a new client.
 * @param input.schemaVersion the version that a new client is pinned to. Null or undefined pins the current version.
 * @param input.abilities undefined: all but `MANAGE_KEYS`
 * @param input.expiresAt the time from which the key is rejected. Null or undefined: it does not expire.
 * @throws {RefusedError} `NOT_FOUND` if the account or the client does not exist; `LIMIT_REACHED` if the client has 5 live
 * keys; `INVALID` if the version is unknown or retired, or is given for an existing client, if the client is that of the portal, if
 * the abilities are invalid, or if the expiry is not in the future
 */
export async function issueCredential(
  context: OperatorContext,
  input: {
    interfaceName?: InterfaceName | undefined;
    accountId: string;
    clientId: string | null;
    schemaVersion?: string | null;
    abilities?: readonly Ability[] | undefined;
    expiresAt?: Date | null;
  },
): Promise<IssuedCredential> {
  const { abilities = usualAbilities, expiresAt = null } = input;
  checkAbilities(abilities);
  checkExpiry(expiresAt, context.now());
  const account = await findAccount(context, input.interfaceName ?? null, input.accountId);
  const { interfaceName } = account;
  const schemaVersion = chooseVersion({ ...input, interfaceName }, context.now());
  const clientId = input.clientId ?? `${interfaceName}_${context.random.bytes(12).toString('hex')}`;
  const apiKey = await context.store.transaction(async (transaction) => {
    await nameOperator(transaction, context.operator, 'credential.issue');
    const apiClientId =
      input.clientId === null
        ? (await insertApiClient(transaction, { accountId: account.id, interfaceName, clientId, schemaVersion })).id
        : await lockClientForAnotherKey(transaction, account.id, input.clientId);
    return insertKey(transaction, { apiClientId, interfaceName, abilities, expiresAt });
  });
  return {
    clientId,
    apiKey,
    organizationId: formatGid(context.gidNamespace, 'Organization', account.organizationId),
  };
}

function chooseVersion(
  input: {
    interfaceName: InterfaceName;
    clientId: string | null;
    schemaVersion?: string | null;
  },
  now: Date,
): string {
  const { interfaceName, clientId, schemaVersion = null } = input;
  if (schemaVersion === null) return currentInterfaceVersion(interfaceName);
  if (clientId !== null) {
    throw new RefusedError('INVALID', `Client ${clientId} is pinned already. Move its pin instead.`);
  }
  checkInterfaceVersion(interfaceName, schemaVersion, now);
  return schemaVersion;
}

async function lockClientForAnotherKey(
  transaction: Transaction,
  accountId: AccountId,
  clientId: string,
): Promise<RecordId<'ApiClient'>> {
  const client = await lockApiClient(transaction, clientId);
  if (client === null || client.accountId !== accountId) {
    throw new RefusedError('NOT_FOUND', `The account has no client ${clientId}.`);
  }
  checkNotOfPortal(clientId);
  await checkLiveKeys(transaction, client.id);
  return client.id;
}

const overlapMaxSeconds = 30 * 86_400;

/**
 * Issues another key to the client of a key. Both keys are accepted during the overlap; then the old one expires, unless it
 * expires before.
 *
 * @param input.overlapSeconds 0 to 30 days
 * @param input.abilities of the new key. Undefined: those of the old one
 * @param input.expiresAt the time from which the new key is rejected. Null: it does not expire.
 * @throws {RefusedError} `NOT_FOUND` if the key does not exist; `CONFLICT` if it is revoked or has expired; `LIMIT_REACHED` if
 * the client would have more than 5 live keys; `INVALID` if the overlap is out of range, the abilities are invalid or the expiry is
 * not in the future
 */
export async function rotateCredential(
  context: OperatorContext,
  input: {
    keyId: string;
    overlapSeconds: number;
    abilities?: readonly Ability[] | undefined;
    expiresAt: Date | null;
  },
): Promise<IssuedCredential> {
  const { overlapSeconds, expiresAt } = input;
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > overlapMaxSeconds) {
    throw new RefusedError('INVALID', `The overlap must be 0 to 30 days; it is ${overlapSeconds} seconds.`);
  }
  if (input.abilities) checkAbilities(input.abilities);
  checkExpiry(expiresAt, context.now());
  return context.store.transaction(async (transaction) => {
    const old = await lockLiveKey(transaction, input.keyId);
    const { apiClientId, clientId, interfaceName } = old;
    await nameOperator(transaction, context.operator, 'credential.rotate');
    await limitApiKeyLife(transaction, input.keyId, overlapSeconds);
    await checkLiveKeys(transaction, apiClientId);
    const { abilities = old.abilities } = input;
    const apiKey = await insertKey(transaction, { apiClientId, interfaceName, abilities, expiresAt });
    return { clientId, apiKey, organizationId: formatGid(context.gidNamespace, 'Organization', old.organizationId) };
  });
}

/** Returns the key, of which the hash is stored. */
async function insertKey(
  transaction: Transaction,
  key: Omit<Parameters<typeof insertApiKey>[1], 'keyId' | 'keyHash'>,
): Promise<string> {
  const { apiKey, keyId, keyHash } = generateApiKey(key.interfaceName);
  const abilities = inOrder.filter((ability) => key.abilities.includes(ability));
  await insertApiKey(transaction, { ...key, keyId, keyHash: storedHash(keyHash, abilities), abilities });
  return apiKey;
}

/** @throws {RefusedError} `INVALID` */
function checkAbilities(chosen: readonly Ability[]): void {
  const fault = findAbilitiesFault(chosen);
  if (fault !== null) throw new RefusedError('INVALID', fault);
}

const liveKeysPerClient = 5;

/**
 * The client must be locked, so that the count stays valid.
 *
 * @throws {RefusedError} `LIMIT_REACHED` if the client cannot have another live key
 */
async function checkLiveKeys(transaction: Transaction, apiClientId: RecordId<'ApiClient'>): Promise<void> {
  const found = await countLiveApiKeys(transaction, apiClientId);
  if (found < liveKeysPerClient) return;
  throw new RefusedError(
    'LIMIT_REACHED',
    `The client has ${found} live keys; at most ${liveKeysPerClient} are allowed. Revoke one first.`,
  );
}
