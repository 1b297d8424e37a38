import type { AccountId, InterfaceName } from '@deedwire/domain';
import { type Database, onlyRow } from '@deedwire/store';

// webhook_handshake_count has a row for each account and minute, with the counts of all limits: the first was that of handshakes.

/**
 * Counts a handshake of an account in the current minute.
 *
 * @returns the number of handshakes in this minute, including this one
 */
export async function countHandshake(
  database: Database,
  accountId: AccountId,
  interfaceName: InterfaceName,
): Promise<number> {
  const statement = {
    name: 'count-handshake',
    text: `
      insert into webhook_handshake_count as c (account_id, interface, minute, handshakes)
      values ($1, $2, date_trunc('minute', now()), 1)
      on conflict (account_id, minute) do update set handshakes = c.handshakes + 1
      returning handshakes`,
  };
  return onlyRow(await database.query<{ handshakes: number }>(statement, [accountId, interfaceName])).handshakes;
}

/**
 * Counts a test event of an account in the current minute, in the transaction that inserts it.
 *
 * @returns the number of test events in this minute, including this one
 */
export async function countTestEvent(
  database: Database,
  accountId: AccountId,
  interfaceName: InterfaceName,
): Promise<number> {
  const statement = {
    name: 'count-test-event',
    text: `
      insert into webhook_handshake_count as c (account_id, interface, minute, handshakes, test_events)
      values ($1, $2, date_trunc('minute', now()), 0, 1)
      on conflict (account_id, minute) do update set test_events = c.test_events + 1
      returning test_events as count`,
  };
  return onlyRow(await database.query<{ count: number }>(statement, [accountId, interfaceName])).count;
}

/** Deletes the counts of previous minutes, of all limits. Served by webhook_handshake_count_pkey. */
export async function deleteOldLimitCounts(database: Database, accountId: AccountId): Promise<void> {
  const statement = {
    name: 'delete-old-limit-counts',
    text: `delete from webhook_handshake_count where account_id = $1 and minute < date_trunc('minute', now())`,
  };
  await database.query(statement, [accountId]);
}
