import type { AccountId } from '@deedwire/domain';
import { type Database, onlyRow, type Transaction } from './database.ts';

/** The name that the account gave itself, or that it was created with. Served by account_pkey and {{snake}}_pkey. */
export async function select{{pascal}}Name(database: Database, accountId: AccountId): Promise<string> {
  const statement = {
    name: 'select-{{name}}-name',
    text: `
      select coalesce(r.name, a.name) as name
      from account a
      left join {{snake}} r on r.account_id = a.id
      where a.id = $1 and a.interface = '{{name}}'`,
  };
  return onlyRow(await database.query<{ name: string }>(statement, [accountId])).name;
}

/** Returns false if the account gave itself this name before. Served by {{snake}}_pkey. */
export async function save{{pascal}}Name(
  transaction: Transaction,
  accountId: AccountId,
  name: string,
): Promise<boolean> {
  const statement = {
    name: 'save-{{name}}-name',
    text: `
      insert into {{snake}} as r (account_id, name)
      values ($1, $2)
      on conflict (account_id) do update set name = excluded.name where r.name <> excluded.name
      returning account_id`,
  };
  return (await transaction.query(statement, [accountId, name])).length === 1;
}
