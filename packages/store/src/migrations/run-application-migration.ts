import { type Client, DatabaseError } from 'pg';
import { ApplicationMigrationError } from '../kernel/errors.ts';
import { onlyRow } from '../statements/database.ts';
import { isLockConflict } from './lock-conflict.ts';
import type { Migration } from './read-migrations.ts';

/**
 * Runs a migration of the application in the open transaction, and undoes its settings, such as the empty search path of a dump.
 *
 * @throws {ApplicationMigrationError} if it fails for another reason than a lock, or ends the transaction
 */
export async function runApplicationMigration(client: Client, { name, sql }: Migration): Promise<void> {
  const before = await readSession(client);
  try {
    await client.query(sql);
  } catch (error) {
    if (!(error instanceof DatabaseError) || isLockConflict(error)) throw error;
    const line = sql.slice(0, Number(error.position ?? 0)).split('\n').length;
    const place = error.position === undefined ? '' : `, at line ${line}`;
    await client.query('rollback');
    // A `commit` in the file can have come before the error.
    const { rows } = await client.query('select where pg_xact_status($1::xid8) = $2', [
      before.transaction,
      'committed',
    ]);
    const applied = rows.length === 0 ? 'Nothing of it was applied.' : 'It may have been applied in part.';
    throw new ApplicationMigrationError(name, `${error.message}${place}. ${applied}`, error);
  }
  const { transaction } = await readSession(client);
  if (transaction !== before.transaction)
    throw new ApplicationMigrationError(
      name,
      'it ends the transaction in which it runs. Remove its `commit` or `rollback`. It may have been applied in part.',
    );
  await client.query('reset session authorization');
  await client.query(`select set_config('search_path', $1, false)`, [before.searchPath]);
}

interface Session {
  transaction: string;
  searchPath: string;
}

async function readSession(client: Client): Promise<Session> {
  const { rows } = await client.query<Session & Record<string, unknown>>(
    `select pg_current_xact_id()::text as transaction, current_setting('search_path') as "searchPath"`,
  );
  return onlyRow(rows);
}
