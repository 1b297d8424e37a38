import { readRanges, type StoredApiKey, storedHash } from '@deedwire/auth';
import {
  type Ability,
  type AccountId,
  describeSubscriptionName,
  findAbilitiesFault,
  formatGid,
  type InterfaceName,
  isSubscriptionName,
  type RecordId,
  usualAbilities,
} from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import {
  type ApiKeyRow,
  type ApiKeyUse,
  expireApiKey,
  insertApiClient,
  type IssueProblem,
  lockApiClient,
  lockApiKey,
  type LockedApiKeyRow,
  selectApiKey,
  selectApiKeys,
  updateApiKeyExpiry,
  updateApiKeyLastUse,
  updateKeySelfService,
} from '@deedwire/store/credentials';
import { appendAuditEntry, nameOperator } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import { findAccount } from './accounts.ts';
import { endKey, findAddressesFault, findExpiryFault, isOverlap, issueKey, type KeyToIssue } from './api-keys.ts';
import { checkInterfaceVersion, checkNotOfPortal, currentInterfaceVersion } from './clients.ts';

/** An API key without its secret, and its client. */
export type Credential = Pick<
  ApiKeyRow,
  | 'clientId'
  | 'schemaVersion'
  | 'costMaximum'
  | 'costRestoreRate'
  | 'keyId'
  | 'name'
  | 'abilities'
  | 'addresses'
  | 'createdAt'
  | 'createdByKey'
  | 'createdByActor'
  | 'expiresAt'
  | 'revokedAt'
  | 'lastUsedAt'
  | 'lastUsedFrom'
  | 'lastUsedVersion'
>;

function toCredential(row: ApiKeyRow): Credential {
  const { clientId, schemaVersion, costMaximum, costRestoreRate } = row;
  const { keyId, name, abilities, addresses, createdAt, createdByKey, createdByActor, expiresAt, revokedAt } = row;
  const { lastUsedAt, lastUsedFrom, lastUsedVersion } = row;
  const ofClient = { clientId, schemaVersion, costMaximum, costRestoreRate };
  const ofKey = { keyId, name, abilities, addresses, createdAt, createdByKey, createdByActor, expiresAt, revokedAt };
  return { ...ofClient, ...ofKey, lastUsedAt, lastUsedFrom, lastUsedVersion };
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
  const { abilities, costMaximum, costRestoreRate, ...key } = row;
  const addresses = row.addresses && readRanges(row.addresses);
  return {
    ...key,
    abilities,
    addresses,
    keyHash: storedHash(row.keyHash, { abilities, addresses }),
    organizationId: formatGid(context.gidNamespace, 'Organization', row.organizationId),
    costLimit: { maximum: costMaximum, restoreRate: costRestoreRate },
  };
}

/** Records when a key was last used. An earlier time than the recorded one changes nothing. */
export async function recordApiKeyUse(context: ActionContext, use: ApiKeyUse): Promise<void> {
  await updateApiKeyLastUse(context.store, use);
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
    const expiresAt = input.expiresAt ?? (await expireApiKey(transaction, keyId)).expiresAt;
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
    const problem = await endKey(context, transaction, { by: context.operator, owner: key }, keyId);
    const revokedAt = (await lockApiKey(transaction, keyId))?.revokedAt;
    if (!revokedAt) throw new Error(`The key ${keyId} was not revoked: ${problem}.`);
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
  if (expiresAt !== null) refuseFault(findExpiryFault(expiresAt, now));
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
 * @param input.name what the key is called. Null or undefined: nothing
 * @param input.abilities undefined: all but `MANAGE_KEYS`
 * @param input.addresses networks in CIDR notation from which the key is accepted. Null or undefined: from any address
 * @param input.expiresAt the time from which the key is rejected. Null or undefined: it does not expire.
 * @throws {RefusedError} `NOT_FOUND` if the account or the client does not exist; `LIMIT_REACHED` if the client has 5 live
 * keys; `INVALID` if the version is unknown or retired, or is given for an existing client, if the client is that of the portal, if
 * the name, the abilities or the addresses are invalid, or if the expiry is not in the future
 */
export async function issueCredential(
  context: OperatorContext,
  input: {
    interfaceName?: InterfaceName | undefined;
    accountId: string;
    clientId: string | null;
    schemaVersion?: string | null;
    name?: string | null;
    abilities?: readonly Ability[] | undefined;
    addresses?: readonly string[] | null;
    expiresAt?: Date | null;
  },
): Promise<IssuedCredential> {
  const { name = null, abilities = usualAbilities, addresses = null, expiresAt = null } = input;
  if (name !== null && !isSubscriptionName(name)) throw new RefusedError('INVALID', describeSubscriptionName(name));
  refuseFault(findAbilitiesFault(abilities));
  if (addresses !== null) refuseFault(findAddressesFault(addresses));
  checkExpiry(expiresAt, context.now());
  const account = await findAccount(context, input.interfaceName ?? null, input.accountId);
  const { interfaceName } = account;
  const schemaVersion = chooseVersion(context, { ...input, interfaceName });
  const isNew = input.clientId === null;
  const clientId = input.clientId ?? createClientId(context, interfaceName);
  const apiKey = await context.store.transaction(async (transaction) => {
    await nameOperator(transaction, context.operator, 'credential.issue');
    const apiClientId = await lockClientForKey(context, transaction, account, { clientId, schemaVersion, isNew });
    const owner = { accountId: account.id, interfaceName };
    return issue(context, transaction, owner, { apiClientId, replaced: null, name, abilities, addresses, expiresAt });
  });
  return {
    clientId,
    apiKey,
    organizationId: formatGid(context.gidNamespace, 'Organization', account.organizationId),
  };
}

function chooseVersion(
  context: ActionContext,
  input: {
    interfaceName: InterfaceName;
    clientId: string | null;
    schemaVersion?: string | null;
  },
): string {
  const { interfaceName, clientId, schemaVersion = null } = input;
  if (schemaVersion === null) return currentInterfaceVersion(context.service, interfaceName);
  if (clientId !== null) {
    throw new RefusedError('INVALID', `Client ${clientId} is pinned already. Move its pin instead.`);
  }
  checkInterfaceVersion(context, interfaceName, schemaVersion);
  return schemaVersion;
}

export function createClientId({ random }: ActionContext, interfaceName: InterfaceName): string {
  return `${interfaceName}_${random.bytes(12).toString('hex')}`;
}

/**
 * Creates the client that a key is for, or locks it until the transaction ends.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account has no such client, `INVALID` if it is that of the portal
 */
export async function lockClientForKey(
  context: ActionContext,
  transaction: Transaction,
  { id: accountId, interfaceName }: { id: AccountId; interfaceName: InterfaceName },
  { clientId, schemaVersion, isNew }: { clientId: string; schemaVersion: string; isNew: boolean },
): Promise<RecordId<'ApiClient'>> {
  if (isNew) return (await insertApiClient(transaction, { accountId, interfaceName, clientId, schemaVersion })).id;
  const client = await lockApiClient(transaction, clientId);
  if (client === null || client.accountId !== accountId) {
    throw new RefusedError('NOT_FOUND', `The account has no client ${clientId}.`);
  }
  checkNotOfPortal(context, clientId);
  return client.id;
}

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
  if (!isOverlap(overlapSeconds)) {
    throw new RefusedError('INVALID', `The overlap must be 0 to 30 days; it is ${overlapSeconds} seconds.`);
  }
  if (input.abilities) refuseFault(findAbilitiesFault(input.abilities));
  checkExpiry(expiresAt, context.now());
  return context.store.transaction(async (transaction) => {
    const old = await lockLiveKey(transaction, input.keyId);
    const { apiClientId, clientId, name, addresses } = old;
    await nameOperator(transaction, context.operator, 'credential.rotate');
    const { abilities = old.abilities } = input;
    const replaced = { keyId: input.keyId, overlapSeconds };
    const key = { apiClientId, replaced, name, abilities, addresses, expiresAt };
    const apiKey = await issue(context, transaction, old, key);
    return { clientId, apiKey, organizationId: formatGid(context.gidNamespace, 'Organization', old.organizationId) };
  });
}

/**
 * Returns the whole key, of which the hash is stored.
 *
 * @throws {RefusedError} `LIMIT_REACHED` if the client cannot have another live key
 */
async function issue(
  context: OperatorContext,
  transaction: Transaction,
  owner: Parameters<typeof issueKey>[2]['owner'],
  key: KeyToIssue,
): Promise<string> {
  const issued = await issueKey(context, transaction, { by: context.operator, owner }, key);
  if (typeof issued === 'object') return issued.secret;
  const problem: IssueProblem = issued;
  if (problem !== 'LIMIT_REACHED') throw new Error(`No key was issued: ${problem}.`);
  throw new RefusedError(problem, 'The client has 5 live keys; at most 5 are allowed. Revoke one first.');
}

/** @throws {RefusedError} `INVALID` if there is a fault */
function refuseFault(fault: string | null): void {
  if (fault !== null) throw new RefusedError('INVALID', fault);
}

/** Lets owners manage their API keys with a key or in the portal, or only operators. It applies at once. */
export async function setKeySelfService(
  { store, operator }: OperatorContext,
  { isOn }: { isOn: boolean },
): Promise<{ keySelfService: boolean }> {
  await store.transaction(async (transaction) => {
    await updateKeySelfService(transaction, isOn);
    await appendAuditEntry(transaction, operator, {
      action: 'database.key-self-service',
      subject: 'database',
      account: null,
      details: { isOn },
    });
  });
  return { keySelfService: isOn };
}
