import type { AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import { firstRow, onlyRow, type Database } from './database.ts';

/** A lender or a partner. */
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
  const statement = {
    name: 'insert-organization',
    text: 'insert into organization (name) values ($1) returning id, name',
  };
  return onlyRow(await database.query<{ id: RecordId<'Organization'>; name: string }>(statement, [name]));
}

/** Served by organization_pkey. */
export async function organizationExists(database: Database, id: RecordId<'Organization'>): Promise<boolean> {
  const statement = { name: 'organization-exists', text: 'select id from organization where id = $1' };
  return (await database.query(statement, [id])).length === 1;
}

export async function insertAccount(
  database: Database,
  account: { interfaceName: InterfaceName; organizationId: RecordId<'Organization'>; name: string },
): Promise<AccountRow> {
  const statement = {
    name: 'insert-account',
    text: `
      insert into account (interface, organization_id, name)
      values ($1, $2, $3)
      returning ${columns}`,
  };
  return onlyRow(
    await database.query<AccountRow>(statement, [account.interfaceName, account.organizationId, account.name]),
  );
}

/** Served by account_pkey. */
export async function selectAccount(
  database: Database,
  interfaceName: InterfaceName,
  id: AccountId,
): Promise<AccountRow | null> {
  const statement = {
    name: 'select-account',
    text: `select ${columns} from account where id = $1 and interface = $2`,
  };
  return firstRow(await database.query<AccountRow>(statement, [id, interfaceName]));
}

/** Locks an account until the transaction ends, so that counts of its records stay valid. Served by account_pkey. */
export async function lockAccount(
  database: Database,
  interfaceName: InterfaceName,
  id: AccountId,
): Promise<AccountRow | null> {
  const statement = {
    name: 'lock-account',
    text: `
      select ${columns}
      from account
      where id = $1 and interface = $2
      for no key update`,
  };
  return firstRow(await database.query<AccountRow>(statement, [id, interfaceName]));
}

/** Served by account_pkey. */
export async function updateAccountName(database: Database, id: AccountId, name: string): Promise<void> {
  const statement = {
    name: 'update-account-name',
    text: 'update account set name = $2 where id = $1',
  };
  await database.query(statement, [id, name]);
}
