import type { Ability, AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import { firstRow, onlyRow, type Database, sql } from './database.ts';
import { pageConditions, type PageQuery } from './page-query.ts';

/** An API key, with its client and account. */
export interface ApiKeyRow {
  keyId: string;
  /** As stored: inverted if the key is limited. */
  keyHash: Buffer;
  abilities: Ability[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  clientId: string;
  accountId: AccountId;
  organizationId: RecordId<'Organization'>;
  interfaceName: InterfaceName;
  schemaVersion: string;
  /** The points of a full bucket of the client. */
  costMaximum: number;
  /** Points per second. */
  costRestoreRate: number;
}

/** Why an account cannot be changed here: it leaves for another cell, or is at home in one. Then it cannot be read either. */
export type Away = 'FROZEN' | 'FOREIGN';

/** Of an account `a`. */
export const awayColumn = `(
        select case when w.is_frozen then 'FROZEN' else 'FOREIGN' end from account_away w where w.account_id = a.id
      ) as away`;

const apiKeyColumns = `
  k.key_id as "keyId", k.key_hash as "keyHash", k.abilities, k.created_at as "createdAt", k.expires_at as "expiresAt",
  k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt", c.client_id as "clientId", c.account_id as "accountId",
  a.organization_id as "organizationId", c.interface as "interfaceName", c.schema_version as "schemaVersion",
  c.cost_maximum as "costMaximum", c.cost_restore_rate as "costRestoreRate"`;

/** Served by api_key_pkey. Row-level security hides the keys of the other interface from an API. */
export async function selectApiKey(
  database: Database,
  keyId: string,
): Promise<(ApiKeyRow & { away: Away | null }) | null> {
  const statement = sql('select-api-key')`
      select ${apiKeyColumns}, ${awayColumn}
      from api_key k
      join api_client c on c.id = k.api_client_id
      join account a on a.id = c.account_id
      where k.key_id = $1`;
  return firstRow(await database.query<ApiKeyRow & { away: Away | null }>(statement, [keyId]));
}

/** Oldest first. Served by api_client_by_account and api_key_by_client. */
export async function selectApiKeys(database: Database, accountId: AccountId): Promise<ApiKeyRow[]> {
  const statement = sql('select-api-keys')`
      select ${apiKeyColumns}
      from api_client c
      join api_key k on k.api_client_id = c.id
      join account a on a.id = c.account_id
      where c.account_id = $1
      order by c.id, k.created_at`;
  return database.query<ApiKeyRow>(statement, [accountId]);
}

export async function insertApiClient(
  database: Database,
  client: { accountId: AccountId; interfaceName: InterfaceName; clientId: string; schemaVersion: string },
): Promise<{ id: RecordId<'ApiClient'> }> {
  const statement = sql('insert-api-client')`
      insert into api_client (account_id, interface, client_id, schema_version)
      values ($1, $2, $3, $4)
      returning id`;
  return onlyRow(
    await database.query<{ id: RecordId<'ApiClient'> }>(statement, [
      client.accountId,
      client.interfaceName,
      client.clientId,
      client.schemaVersion,
    ]),
  );
}

export interface ApiClientRow {
  id: RecordId<'ApiClient'>;
  accountId: AccountId;
  interfaceName: InterfaceName;
  schemaVersion: string;
  costMaximum: number;
  costRestoreRate: number;
}

/** A client, as operators list it. */
export interface ListedApiClientRow extends ApiClientRow {
  clientId: string;
  createdAt: Date;
  /** The keys that are neither revoked nor expired. */
  liveKeys: number;
  /** The latest use of a key. Null if none has been used. */
  lastUsedAt: Date | null;
}

/**
 * Clients, newest first. Served by api_client_by_account or api_client_pkey, and by api_key_by_client.
 *
 * @param accountId null for those of all accounts
 */
export async function selectApiClients(
  database: Database,
  accountId: AccountId | null,
  page: PageQuery<'ApiClient'>,
): Promise<ListedApiClientRow[]> {
  const { scope, conditions, values } = pageConditions(['account_id', accountId], 'id', page);
  const statement = sql(`select-api-clients${scope}`, 'in-index-order')`
      select c.id, c.client_id as "clientId", c.account_id as "accountId", c.interface as "interfaceName",
        c.schema_version as "schemaVersion", c.cost_maximum as "costMaximum", c.cost_restore_rate as "costRestoreRate",
        c.created_at as "createdAt", k."liveKeys", k."lastUsedAt"
      from (
        select *
        from api_client
        where ${conditions}
        limit $2
      ) c
      cross join lateral (
        select
          count(*) filter (where revoked_at is null and (expires_at is null or expires_at > now()))::int as "liveKeys",
          max(last_used_at) as "lastUsedAt"
        from api_key
        where api_client_id = c.id
      ) k
      order by c.id desc`;
  return database.query<ListedApiClientRow>(statement, values);
}

/** Locks a client until the transaction ends, so that the count of its keys stays valid. Served by api_client_client_id_key. */
export async function lockApiClient(database: Database, clientId: string): Promise<ApiClientRow | null> {
  const statement = sql('lock-api-client')`
      select id, account_id as "accountId", interface as "interfaceName", schema_version as "schemaVersion",
        cost_maximum as "costMaximum", cost_restore_rate as "costRestoreRate"
      from api_client
      where client_id = $1
      for no key update`;
  return firstRow(await database.query<ApiClientRow>(statement, [clientId]));
}

/** Null for an unknown client. Served by api_client_client_id_key. */
export async function selectApiClientId(database: Database, clientId: string): Promise<RecordId<'ApiClient'> | null> {
  const statement = sql('select-api-client-id')`select id from api_client where client_id = $1`;
  return firstRow(await database.query<{ id: RecordId<'ApiClient'> }>(statement, [clientId]))?.id ?? null;
}

/** Pins a client to another version. Served by api_client_pkey. */
export async function updateApiClientVersion(
  database: Database,
  id: RecordId<'ApiClient'>,
  schemaVersion: string,
): Promise<void> {
  const statement = sql('update-api-client-version')`update api_client set schema_version = $2 where id = $1`;
  await database.query(statement, [id, schemaVersion]);
}

/** Sets the size of a client's bucket, and the points that it regains in a second. Served by api_client_pkey. */
export async function updateApiClientCostLimit(
  database: Database,
  id: RecordId<'ApiClient'>,
  limit: { maximum: number; restoreRate: number },
): Promise<void> {
  const statement = sql(
    'update-api-client-cost-limit',
  )`update api_client set cost_maximum = $2, cost_restore_rate = $3 where id = $1`;
  await database.query(statement, [id, limit.maximum, limit.restoreRate]);
}

/** Counts the keys that are neither revoked nor expired. Served by api_key_by_client. */
export async function countLiveApiKeys(database: Database, apiClientId: RecordId<'ApiClient'>): Promise<number> {
  const statement = sql('count-live-api-keys')`
      select count(*)::int as count
      from api_key
      where api_client_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())`;
  return onlyRow(await database.query<{ count: number }>(statement, [apiClientId])).count;
}

export async function insertApiKey(
  database: Database,
  key: {
    keyId: string;
    apiClientId: RecordId<'ApiClient'>;
    interfaceName: InterfaceName;
    /** As stored: inverted if the key is limited. */
    keyHash: Buffer;
    abilities: readonly Ability[];
    expiresAt: Date | null;
  },
): Promise<void> {
  const { keyId, apiClientId, interfaceName, keyHash, abilities, expiresAt } = key;
  const statement = sql('insert-api-key')`
      insert into api_key (key_id, api_client_id, interface, key_hash, abilities, expires_at) values ($1, $2, $3, $4, $5, $6)`;
  await database.query(statement, [keyId, apiClientId, interfaceName, keyHash, abilities, expiresAt]);
}

export interface LockedApiKeyRow {
  apiClientId: RecordId<'ApiClient'>;
  clientId: string;
  accountId: AccountId;
  organizationId: RecordId<'Organization'>;
  interfaceName: InterfaceName;
  abilities: Ability[];
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Neither revoked nor expired. */
  isLive: boolean;
}

/** Locks a key and its client until the transaction ends. Served by api_key_pkey. */
export async function lockApiKey(database: Database, keyId: string): Promise<LockedApiKeyRow | null> {
  const statement = sql('lock-api-key')`
      select c.id as "apiClientId", c.client_id as "clientId", c.account_id as "accountId",
        a.organization_id as "organizationId", c.interface as "interfaceName", k.abilities, k.expires_at as "expiresAt",
        k.revoked_at as "revokedAt", k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) as "isLive"
      from api_key k
      join api_client c on c.id = k.api_client_id
      join account a on a.id = c.account_id
      where k.key_id = $1
      for no key update of c, k`;
  return firstRow(await database.query<LockedApiKeyRow>(statement, [keyId]));
}

/** Rejects a key from the given time on. Served by api_key_pkey. */
export async function updateApiKeyExpiry(database: Database, keyId: string, expiresAt: Date): Promise<void> {
  const statement = sql('update-api-key-expiry')`update api_key set expires_at = $2 where key_id = $1`;
  await database.query(statement, [keyId, expiresAt]);
}

/**
 * Rejects a key after a number of seconds, or from its earlier expiry on. The column rounds to milliseconds; truncated, 0
 * seconds are not in the future. Served by api_key_pkey.
 *
 * @returns the time from which the key is rejected
 */
export async function limitApiKeyLife(
  database: Database,
  keyId: string,
  forSeconds: number,
): Promise<{ expiresAt: Date }> {
  const statement = sql('limit-api-key-life')`
      update api_key
      set expires_at = least(expires_at, date_trunc('milliseconds', now()) + make_interval(secs => $2))
      where key_id = $1
      returning expires_at as "expiresAt"`;
  return onlyRow(await database.query<{ expiresAt: Date }>(statement, [keyId, forSeconds]));
}

/** Revokes a key. Served by api_key_pkey. */
export async function revokeApiKey(database: Database, keyId: string): Promise<{ revokedAt: Date }> {
  const statement = sql('revoke-api-key')`
      update api_key
      set revoked_at = now()
      where key_id = $1
      returning revoked_at as "revokedAt"`;
  return onlyRow(await database.query<{ revokedAt: Date }>(statement, [keyId]));
}

/** Ignores a time before the recorded one. Served by api_key_pkey. */
export async function updateApiKeyLastUse(database: Database, keyId: string, at: Date): Promise<void> {
  const statement = sql('update-api-key-last-use')`
      update api_key
      set last_used_at = $2
      where key_id = $1 and (last_used_at is null or last_used_at < $2)`;
  await database.query(statement, [keyId, at]);
}
