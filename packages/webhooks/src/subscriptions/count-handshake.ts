import type { AccountId, InterfaceName } from '@deedwire/domain';
import { onlyRow, type Database } from '@deedwire/store';

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
