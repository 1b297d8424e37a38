import type { AccountId, InterfaceName, RecordId } from '@deedwire/core';
import { firstRow, onlyRow, type Database, sql } from '../statements/database.ts';
import { pageConditions, type PageQuery } from '../statements/page-query.ts';

/** An account of an interface. */
export interface AccountRow {
  id: AccountId;
  interfaceName: InterfaceName;
  organizationId: RecordId<'Organization'>;
  name: string;
}

const columns = `id, interface as "interfaceName", organization_id as "organizationId", name`;

export async function insertOrganization(
  database: Database,
  name: string,
): Promise<{ id: RecordId<'Organization'>; name: string }> {
  const statement = sql('insert-organization')`insert into organization (name) values ($1) returning id, name`;
  return onlyRow(await database.query<{ id: RecordId<'Organization'>; name: string }>(statement, [name]));
}

export interface OrganizationRow {
  id: RecordId<'Organization'>;
  name: string;
  createdAt: Date;
}

/**
 * Organizations, newest first. Served by organization_pkey. Reads those without the text in their name too.
 *
 * @param nameContains a part of the name, in any case. Null for all.
 */
export async function selectOrganizations(
  database: Database,
  nameContains: string | null,
  page: PageQuery<'Organization'>,
): Promise<OrganizationRow[]> {
  const statement = sql('select-organizations', 'in-index-order')`
      select id, name, created_at as "createdAt"
      from organization
      where id < coalesce($1::bigint, 9223372036854775807) and ${containsName('$2')}
      order by id desc
      limit $3`;
  return database.query<OrganizationRow>(statement, [page.afterId, nameContains, page.limit]);
}

/** The condition that the column `name` contains the text of a parameter, in any case. True if that is null. */
function containsName(parameter: string): string {
  return `(${parameter}::text is null or strpos(lower(name), lower(${parameter})) > 0)`;
}

/** Served by organization_pkey. */
export async function organizationExists(database: Database, id: RecordId<'Organization'>): Promise<boolean> {
  const statement = sql('organization-exists')`select id from organization where id = $1`;
  return (await database.query(statement, [id])).length === 1;
}

export async function insertAccount(
  database: Database,
  account: { interfaceName: InterfaceName; organizationId: RecordId<'Organization'>; name: string },
): Promise<AccountRow> {
  const statement = sql('insert-account')`
      insert into account (interface, organization_id, name)
      values ($1, $2, $3)
      returning ${columns}`;
  return onlyRow(
    await database.query<AccountRow>(statement, [account.interfaceName, account.organizationId, account.name]),
  );
}

/** A filter that is null does not restrict the list. */
export interface AccountFilter {
  interfaceName: InterfaceName | null;
  organizationId: RecordId<'Organization'> | null;
  /** A part of the name, in any case. */
  nameContains: string | null;
}

/** An account, as operators list it. */
export interface ListedAccountRow extends AccountRow {
  /** The id by which an application knows it. Null: an operator has created it. */
  externalId: string | null;
  organizationName: string;
  createdAt: Date;
}

/**
 * The accounts of all interfaces, newest first. Served by account_by_organization or account_pkey, and organization_pkey. Reads the
 * accounts of other interfaces and with other names too.
 */
export async function selectAccounts(
  database: Database,
  { interfaceName, organizationId, nameContains }: AccountFilter,
  page: PageQuery<'Account'>,
): Promise<ListedAccountRow[]> {
  const filters = `($4::interface_name is null or interface = $4) and ${containsName('$5')}`;
  const { scope, conditions, values } = pageConditions(['organization_id', organizationId], 'id', page);
  const statement = sql(`select-accounts${scope}`, 'in-index-order')`
      select listed.*, o.name as "organizationName"
      from (
        select ${columns}, external_id as "externalId", created_at as "createdAt"
        from account
        where ${filters} and ${conditions}
        limit $2
      ) listed
      join organization o on o.id = listed."organizationId"
      order by listed.id desc`;
  return database.query<ListedAccountRow>(statement, [...values, interfaceName, nameContains]);
}

/** With the id by which an application knows it. Null: an operator has created it. Served by account_pkey. */
export async function selectAccount(
  database: Database,
  interfaceName: InterfaceName,
  id: AccountId,
): Promise<(AccountRow & Pick<ListedAccountRow, 'externalId'>) | null> {
  const statement = sql('select-account')`
      select ${columns}, external_id as "externalId" from account where id = $1 and interface = $2`;
  return firstRow(
    await database.query<AccountRow & Pick<ListedAccountRow, 'externalId'>>(statement, [id, interfaceName]),
  );
}

/** The accounts, at most one of each interface, that an application created with this id. Served by account_by_external_id. */
export async function selectAccountsByExternalId(
  database: Database,
  interfaceNames: readonly InterfaceName[],
  externalId: string,
): Promise<AccountRow[]> {
  const statement = sql('select-accounts-by-external-id')`
      select ${columns}
      from account
      where interface = any ($1::interface_name[]) and external_id = $2
      order by id`;
  return database.query<AccountRow>(statement, [interfaceNames, externalId]);
}

/** Locks an account until the transaction ends, so that counts of its records stay valid. Served by account_pkey. */
export async function lockAccount(
  database: Database,
  interfaceName: InterfaceName,
  id: AccountId,
): Promise<AccountRow | null> {
  const statement = sql('lock-account')`
      select ${columns}
      from account
      where id = $1 and interface = $2
      for no key update`;
  return firstRow(await database.query<AccountRow>(statement, [id, interfaceName]));
}

/** Served by account_pkey. */
export async function updateAccountName(database: Database, id: AccountId, name: string): Promise<void> {
  const statement = sql('update-account-name')`update account set name = $2 where id = $1`;
  await database.query(statement, [id, name]);
}

/** Since when the account may create no webhook listeners. Null if it may. Served by account_pkey. */
export async function selectListenersForbiddenAt(database: Database, id: AccountId): Promise<Date | null> {
  const statement = sql(
    'select-listeners-forbidden-at',
  )`select webhook_listeners_forbidden_at as "forbiddenAt" from account where id = $1`;
  return onlyRow(await database.query<{ forbiddenAt: Date | null }>(statement, [id])).forbiddenAt;
}

/** Forbids or allows webhook listeners. Changes nothing if that is so already. Served by account_pkey. */
export async function forbidListeners(database: Database, id: AccountId, isForbidden: boolean): Promise<void> {
  const statement = sql('forbid-listeners')`
      update account
      set webhook_listeners_forbidden_at = case when $2 then now() end
      where id = $1 and (webhook_listeners_forbidden_at is not null) <> $2`;
  await database.query(statement, [id, isForbidden]);
}
