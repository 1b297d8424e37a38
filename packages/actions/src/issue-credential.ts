import { generateApiKey } from '@deedwire/auth';
import { type AccountId, formatGid, type InterfaceName, type RecordId } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import {
  countLiveApiKeys,
  insertApiClient,
  insertApiKey,
  limitApiKeyLife,
  lockApiClient,
} from '@deedwire/store/credentials';
import { findAccount } from './accounts.ts';
import { nameOperator } from './audit.ts';
import { checkInterfaceVersion, currentInterfaceVersion } from './clients.ts';
import type { OperatorContext } from './context.ts';
import { checkExpiry, lockLiveKey } from './credentials.ts';
import { RefusedError } from './errors.ts';

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
 * @param input.expiresAt the time from which the key is rejected. Null or undefined: it does not expire.
 * @throws {RefusedError} `NOT_FOUND` if the account or the client does not exist; `LIMIT_REACHED` if the client has 5 live
 * keys; `INVALID` if the version is unknown or retired, or is given for an existing client, or if the expiry is not in the future
 */
export async function issueCredential(
  context: OperatorContext,
  input: {
    interfaceName?: InterfaceName | undefined;
    accountId: string;
    clientId: string | null;
    schemaVersion?: string | null;
    expiresAt?: Date | null;
  },
): Promise<IssuedCredential> {
  const { expiresAt = null } = input;
  checkExpiry(expiresAt, context.now());
  const account = await findAccount(context, input.interfaceName ?? null, input.accountId);
  const { interfaceName } = account;
  const schemaVersion = chooseVersion({ ...input, interfaceName }, context.now());
  const { apiKey, keyId, keyHash } = generateApiKey(interfaceName);
  const clientId = input.clientId ?? `${interfaceName}_${context.random.bytes(12).toString('hex')}`;
  await context.store.transaction(async (transaction) => {
    await nameOperator(transaction, context.operator, 'credential.issue');
    const apiClientId =
      input.clientId === null
        ? (await insertApiClient(transaction, { accountId: account.id, interfaceName, clientId, schemaVersion })).id
        : await lockClientForAnotherKey(transaction, account.id, input.clientId);
    await insertApiKey(transaction, { keyId, apiClientId, interfaceName, keyHash, expiresAt });
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
  await checkLiveKeys(transaction, client.id);
  return client.id;
}

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
    await nameOperator(transaction, context.operator, 'credential.rotate');
    await limitApiKeyLife(transaction, input.keyId, overlapSeconds);
    await checkLiveKeys(transaction, apiClientId);
    const { apiKey, keyId, keyHash } = generateApiKey(interfaceName);
    await insertApiKey(transaction, { keyId, apiClientId, interfaceName, keyHash, expiresAt });
    return { clientId, apiKey, organizationId: formatGid(context.gidNamespace, 'Organization', old.organizationId) };
  });
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
