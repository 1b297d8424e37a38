import { randomBytes } from 'node:crypto';
import { generateApiKey } from '@deedwire/auth';
import { formatGid, parseAccountGid, type AccountId, type InterfaceName, type RecordId } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import { selectAccount } from '@deedwire/store/accounts';
import {
  countLiveApiKeys,
  insertApiClient,
  insertApiKey,
  lockApiClient,
  revokeApiKey,
  selectApiKeys,
  type ApiKeyRow,
} from '@deedwire/store/credentials';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { checkInterfaceVersion, currentInterfaceVersion } from '../interface-versions.ts';

/** What a client sends with each request. The key is shown this once. */
export interface IssuedCredential {
  clientId: string;
  apiKey: string;
  organizationId: string;
}

/** A key without its secret. */
export interface Credential {
  clientId: string;
  /** The interface version that the client is pinned to. */
  schemaVersion: string;
  keyId: string;
  createdAt: Date;
  /** Null: it does not expire. */
  expiresAt: Date | null;
  /** Null: it is not revoked. */
  revokedAt: Date | null;
  /** Known to the minute. Null: never. */
  lastUsedAt: Date | null;
}

const liveKeysPerClient = 5;

/**
 * Issues an API key.
 *
 * @param input.clientId gives this client of the account one more key; null makes a new client
 * @param input.schemaVersion the version that a new client is pinned to; null or undefined: the current one
 * @throws RefusedError `NOT_FOUND`; `LIMIT_REACHED` when the client has 5 live keys; `INVALID` for a version that is unknown,
 * or named for a client that has its pin
 */
export async function issueCredential(
  context: ActionContext,
  input: { interfaceName: InterfaceName; accountId: string; clientId: string | null; schemaVersion?: string | null },
): Promise<IssuedCredential> {
  const { interfaceName } = input;
  const id = parseAccountGid(context.gidNamespace, interfaceName, input.accountId);
  const account = id === null ? null : await selectAccount(context.store, interfaceName, id);
  if (account === null) throw new RefusedError('NOT_FOUND', `There is no ${interfaceName} ${input.accountId}.`);

  const schemaVersion = chooseVersion(input);
  const { apiKey, keyId, keyHash } = generateApiKey(interfaceName);
  const clientId = input.clientId ?? `${interfaceName}_${randomBytes(12).toString('hex')}`;
  await context.store.transaction(async (transaction) => {
    const apiClientId =
      input.clientId === null
        ? (await insertApiClient(transaction, { accountId: account.id, interfaceName, clientId, schemaVersion })).id
        : await findClientForAnotherKey(transaction, account.id, input.clientId);
    await insertApiKey(transaction, { keyId, apiClientId, interfaceName, keyHash });
  });
  return {
    clientId,
    apiKey,
    organizationId: formatGid(context.gidNamespace, 'Organization', account.organizationId),
  };
}

function chooseVersion(input: {
  interfaceName: InterfaceName;
  clientId: string | null;
  schemaVersion?: string | null;
}): string {
  const { interfaceName, clientId, schemaVersion = null } = input;
  if (schemaVersion === null) return currentInterfaceVersion(interfaceName);
  if (clientId !== null) {
    throw new RefusedError('INVALID', `Client ${clientId} is pinned already. Move its pin instead.`);
  }
  checkInterfaceVersion(interfaceName, schemaVersion, new Date());
  return schemaVersion;
}

async function findClientForAnotherKey(
  transaction: Transaction,
  accountId: AccountId,
  clientId: string,
): Promise<RecordId<'ApiClient'>> {
  const client = await lockApiClient(transaction, clientId);
  if (client === null || client.accountId !== accountId) {
    throw new RefusedError('NOT_FOUND', `The account has no client ${clientId}.`);
  }
  if ((await countLiveApiKeys(transaction, client.id)) >= liveKeysPerClient) {
    throw new RefusedError('LIMIT_REACHED', `A client can have ${liveKeysPerClient} live keys. Revoke one first.`);
  }
  return client.id;
}

/**
 * The keys of an account, by client, oldest first.
 *
 * @throws RefusedError `NOT_FOUND`
 */
export async function listCredentials(
  context: ActionContext,
  input: { interfaceName: InterfaceName; accountId: string },
): Promise<Credential[]> {
  const id = parseAccountGid(context.gidNamespace, input.interfaceName, input.accountId);
  const account = id === null ? null : await selectAccount(context.store, input.interfaceName, id);
  if (account === null) throw new RefusedError('NOT_FOUND', `There is no ${input.interfaceName} ${input.accountId}.`);
  return (await selectApiKeys(context.store, account.id)).map(toCredential);
}

/**
 * Revokes a key. Every process refuses it within a second. A key that is revoked already keeps its time.
 *
 * @throws RefusedError `NOT_FOUND`
 */
export async function revokeCredential(
  context: ActionContext,
  input: { keyId: string },
): Promise<{ keyId: string; revokedAt: Date }> {
  const row = await revokeApiKey(context.store, input.keyId);
  if (row === null) throw new RefusedError('NOT_FOUND', `There is no key ${input.keyId}.`);
  return { keyId: input.keyId, revokedAt: row.revokedAt };
}

function toCredential(row: ApiKeyRow): Credential {
  return {
    clientId: row.clientId,
    schemaVersion: row.schemaVersion,
    keyId: row.keyId,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    lastUsedAt: row.lastUsedAt,
  };
}
