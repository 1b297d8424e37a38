import { isIP } from 'node:net';
import type { Ability, AccountId, InterfaceName, RecordId } from '@deedwire/core';
import { callFunction } from '../statements/call-function.ts';
import { firstRow, onlyRow, type Database, sql } from '../statements/database.ts';
import { pageConditions, type PageQuery } from '../statements/page-query.ts';

/** An API key, with its client and account. */
export interface ApiKeyRow {
  keyId: string;
  /** Null if an operator has issued the key without a name. */
  name: string | null;
  /** As stored: with inverted bits if the key is limited. */
  keyHash: Buffer;
  abilities: Ability[];
  /** Networks in CIDR notation. Null: the key is accepted from any address. */
  addresses: string[] | null;
  createdAt: Date;
  /** The key that created this one, or the link of the session that did. Null: an operator. */
  createdByKey: string | null;
  /** The actor of the session that created the key. Null: it was no session. */
  createdByActor: string | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** Null if the key has ended, too. */
  lastUsedFrom: string | null;
  lastUsedVersion: string | null;
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

/** Of a key `k`. */
const isLive = 'k.revoked_at is null and (k.expires_at is null or k.expires_at > now())';

const apiKeyColumns = `
  k.key_id as "keyId", k.name, k.key_hash as "keyHash", k.abilities, k.addresses::text[], k.created_at as "createdAt",
  k.created_by_key as "createdByKey", k.created_by_actor as "createdByActor", k.expires_at as "expiresAt",
  k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt",
  case when ${isLive} then host(k.last_used_from) end as "lastUsedFrom", k.last_used_version as "lastUsedVersion", c.client_id as "clientId", c.account_id as "accountId",
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

/** Which key or session of the portal changes the keys of its client. Null for both: an operator. */
export interface ActingOnKeys {
  keyId: string | null;
  /** The key is then the one that created its link. Null for the session of an invite. */
  sessionId: RecordId<'PortalSession'> | null;
}

/** A key to create. */
export interface NewApiKey {
  keyId: string;
  /** As stored: with inverted bits if the key is limited. */
  keyHash: Buffer;
  name: string | null;
  abilities: readonly Ability[];
  /** Networks in CIDR notation. Null: the key is accepted from any address. */
  addresses: readonly string[] | null;
  expiresAt: Date | null;
}

/** Why no key was created or replaced, as `issue_api_key` says it. `REFUSED`: the acting key or session cannot manage keys now. */
export type IssueProblem =
  | 'ABILITIES_INVALID'
  | 'ADDRESSES_INVALID'
  | 'DAILY_LIMIT_REACHED'
  | 'EXPIRY_INVALID'
  | 'KEY_ENDED'
  | 'KEY_SELF_SERVICE_OFF'
  | 'LIMIT_REACHED'
  | 'NOT_FOUND'
  | 'REFUSED';

/**
 * Creates a key, or replaces one. Limits the life of the replaced one to the overlap.
 *
 * @param target.apiClientId null: that of the acting key
 * @returns why nothing was changed. Null if the key was created
 */
export async function issueApiKey(
  database: Database,
  acting: ActingOnKeys,
  target: { apiClientId: RecordId<'ApiClient'> | null; replaced: { keyId: string; overlapSeconds: number } | null },
  { keyId, keyHash, name, abilities, addresses, expiresAt }: NewApiKey,
): Promise<IssueProblem | null> {
  const { apiClientId, replaced } = target;
  const place = [apiClientId, replaced?.keyId ?? null, replaced?.overlapSeconds ?? null];
  const key = [keyId, keyHash, name, abilities, addresses, expiresAt];
  const values = [acting.keyId, acting.sessionId, ...place, ...key];
  return onlyRow(await callFunction<IssueProblem | null>(database, 'issue_api_key', values));
}

/** Why a key was not revoked, as `revoke_api_key` says it. `KEY_ENDED`: it was before or, for its owner, has expired. */
export type RevokeProblem = 'KEY_ENDED' | 'KEY_SELF_SERVICE_OFF' | 'LAST_KEY' | 'NOT_FOUND' | 'REFUSED';

/**
 * Revokes a key.
 *
 * @returns why nothing was changed. Null: the key was revoked
 */
export async function revokeApiKey(
  database: Database,
  acting: ActingOnKeys,
  keyId: string,
): Promise<RevokeProblem | null> {
  const values = [acting.keyId, acting.sessionId, keyId];
  return onlyRow(await callFunction<RevokeProblem | null>(database, 'revoke_api_key', values));
}

const endedKeysListed = 20;

/**
 * The live keys of a client, newest first, and then those that ended last. Served by api_client_client_id_key and api_key_by_client.
 */
export async function selectKeysOfClient(database: Database, clientId: string): Promise<ApiKeyRow[]> {
  const statement = sql('select-keys-of-client')`
      select listed.*
      from (
        select ${apiKeyColumns}, ${isLive} as "isLive",
          row_number() over (partition by ${isLive} order by least(k.revoked_at, k.expires_at) desc, k.key_id) as position
        from api_key k
        join api_client c on c.id = k.api_client_id
        join account a on a.id = c.account_id
        where c.client_id = $1
      ) listed
      where "isLive" or position <= ${endedKeysListed}
      order by "isLive" desc, case when not "isLive" then position end, "createdAt" desc, "keyId"`;
  return database.query<ApiKeyRow>(statement, [clientId]);
}

export interface LockedApiKeyRow {
  apiClientId: RecordId<'ApiClient'>;
  clientId: string;
  accountId: AccountId;
  organizationId: RecordId<'Organization'>;
  interfaceName: InterfaceName;
  name: string | null;
  abilities: Ability[];
  addresses: string[] | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Neither revoked nor expired. */
  isLive: boolean;
}

/** Locks a key and its client until the transaction ends. Served by api_key_pkey. */
export async function lockApiKey(database: Database, keyId: string): Promise<LockedApiKeyRow | null> {
  const statement = sql('lock-api-key')`
      select c.id as "apiClientId", c.client_id as "clientId", c.account_id as "accountId",
        a.organization_id as "organizationId", c.interface as "interfaceName", k.name, k.abilities, k.addresses::text[],
        k.expires_at as "expiresAt", k.revoked_at as "revokedAt", ${isLive} as "isLive"
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
 * Rejects a key from now on, or from its earlier expiry on. Truncated, because the column rounds to milliseconds, and the time must not be
 * in the future. Served by api_key_pkey.
 *
 * @returns the time from which the key is rejected
 */
export async function expireApiKey(database: Database, keyId: string): Promise<{ expiresAt: Date }> {
  const statement = sql('expire-api-key')`
      update api_key
      set expires_at = least(expires_at, date_trunc('milliseconds', now()))
      where key_id = $1
      returning expires_at as "expiresAt"`;
  return onlyRow(await database.query<{ expiresAt: Date }>(statement, [keyId]));
}

/** The last use of a key. */
export interface ApiKeyUse {
  keyId: string;
  at: Date;
  /** Of the client. */
  address: string;
  /** Of the interface. Null if the request has asked for none that is served. */
  version: string | null;
}

/** Ignores a time before the recorded one. Served by api_key_pkey. */
export async function updateApiKeyLastUse(
  database: Database,
  { keyId, at, address, version }: ApiKeyUse,
): Promise<void> {
  const statement = sql('update-api-key-last-use')`
      update api_key
      set last_used_at = $2, last_used_from = $3, last_used_version = $4
      where key_id = $1 and (last_used_at is null or last_used_at < $2)`;
  await database.query(statement, [keyId, at, isIP(address) === 0 ? null : address, version]);
}

/** As `updateKeySelfService` has set it. */
export async function selectKeySelfService(database: Database): Promise<boolean> {
  const statement = sql('select-key-self-service')`select key_self_service as "isOn" from installation where only_row`;
  return onlyRow(await database.query<{ isOn: boolean }>(statement, [])).isOn;
}

/** Whether keys and sessions may create, rotate and revoke API keys. False: only operators. */
export async function updateKeySelfService(database: Database, isOn: boolean): Promise<void> {
  const statement = sql('update-key-self-service')`update installation set key_self_service = $1 where only_row`;
  await database.query(statement, [isOn]);
}
