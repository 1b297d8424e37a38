import type { AccountId, PersonTable, RecordId } from '@deedwire/core';
import { callFunction } from '../statements/call-function.ts';
import { type Database, sql } from '../statements/database.ts';

/** A record that identifies a person. Its row can be gone. */
export interface PersonRecord {
  type: string;
  /** The id, or the hash of `key`. */
  id: RecordId<string>;
  /** The id that the application gave. Null if it gave none, or if nothing that is kept has it. */
  key: string | null;
  accountId: AccountId;
}

/** The results of the functions that the operator calls. */
interface Results {
  are_erased_deliveries_reread: boolean;
  begin_record_erasure: unknown;
  count_kept_of_person: Record<string, number>;
  end_erased_deliveries: unknown;
  end_record_erasure: unknown;
  erase_person_events: unknown;
  forget_emptied_table: unknown;
  forget_keys_of_person: unknown;
  mark_erased_deliveries: unknown;
  person_accounts: Pick<PersonRecord, 'accountId' | 'id'>[];
  person_addresses: { readTo: string | null; rows: (Omit<PersonRecord, 'key'> & { address: string })[] };
  person_row: { table: string; accountId: AccountId; isErased: boolean; savedResults: number } | null;
  reread_erased_deliveries: AccountId;
  webhook_unquiet_workers: string;
}

/** Calls one of these functions. Returns its rows. */
export function callErasing<Name extends keyof Results>(
  database: Database,
  name: Name,
  ...values: readonly (string | readonly string[] | null)[]
): Promise<Results[Name][]> {
  return callFunction(database, name, values);
}

/** The records of accounts at home whose erasure began and has not ended. */
export async function selectOpenErasures(database: Database): Promise<PersonRecord[]> {
  const statement = sql('select-open-erasures')`
      select record_type as type, record_id as id, record_key as key, account_id as "accountId"
      from person_erasure p
      where not exists (select from account_away w where w.account_id = p.account_id)
      order by record_id, account_id`;
  return database.query<PersonRecord & Record<string, unknown>>(statement, []);
}

export type PersonAddress = Pick<PersonRecord, 'accountId' | 'id'> & { address: string };

/** Of the next `limit` rows that have one, in the order of accounts. */
export async function selectAddresses(
  database: Database,
  { table, address }: PersonTable,
  after: Pick<PersonAddress, 'accountId' | 'id'> | null,
  limit: number,
): Promise<PersonAddress[]> {
  const statement = sql('select-addresses')`
      select id, account_id as "accountId", address
      from person_addresses_by_account($1, $2, $3, $4, $5)`;
  const values = [table, address, after?.accountId ?? '0', after?.id ?? '0', limit];
  return database.query<PersonAddress & Record<string, unknown>>(statement, values);
}
