import { type Database, onlyRow, sql } from '@deedwire/store';
import type { WorkerId } from '../../fence/fence.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { pgArray } from '../../kernel/sql.ts';

/** The payload of the notification that homes of accounts have changed, by a trigger. */
export const homesChanged = 'homes';

/**
 * Returns the time of the last freeze, as PostgreSQL writes it, if the worker has not acknowledged it. Null otherwise.
 *
 * Served by account_home_frozen and webhook_worker_pkey.
 */
export async function selectNewFreeze(database: Database, workerId: WorkerId): Promise<string | null> {
  const statement = sql('select-new-freeze')`
      select max(frozen_at)::text as "frozenAt"
      from account_home
      where frozen_at > coalesce((select quiet_at from webhook_worker where id = $1), '-infinity')`;
  return onlyRow(await database.query<{ frozenAt: string | null }>(statement, [workerId])).frozenAt;
}

/** Returns those of the accounts that are not at home. Served by account_home_pkey. */
export async function selectAway(database: Database, accounts: readonly AccountId[]): Promise<AccountId[]> {
  const statement = sql('select-away')`select account_id as id from account_away where account_id = any ($1::bigint[])`;
  return (await database.query<{ id: AccountId }>(statement, [pgArray(accounts)])).map(({ id }) => id);
}

/** Notes that the worker has nothing left to do for the accounts of a freeze. Served by webhook_worker_pkey. */
export async function acknowledgeFreeze(database: Database, workerId: WorkerId, frozenAt: string): Promise<void> {
  const statement = sql(
    'acknowledge-freeze',
  )`update webhook_worker set quiet_at = $2::timestamptz where id = $1 and alive`;
  await database.query(statement, [workerId, frozenAt]);
}
