import type { Client } from 'pg';
import { LockTimeoutError, toStoreError } from '../kernel/errors.ts';
import { createClient } from './connect.ts';
import { beginWith } from './session-settings.ts';

export interface TableLockOptions {
  /** Better a direct connection: the lock occupies a connection of a pooler. */
  directUrl: string;
  applicationName: string;
  /** A table that the login may update. No code may take this lock for another reason. */
  table: string;
}

/** How long opening the connection and each statement on it may take. */
const timeoutMs = 10_000;

/**
 * Runs `work` while this process holds the only lock of its kind on the table, on its own connection. Logins that may not
 * update the table cannot take the lock. The lock blocks no reads and writes. Its transaction stays idle, so it delays no vacuum.
 *
 * If the connection ends meanwhile, another process can get the lock before `work` has ended.
 *
 * @returns null if another session holds the lock
 * @throws {StoreUnavailableError}
 */
export async function withTableLock<Result>(
  { directUrl, applicationName, table }: TableLockOptions,
  work: () => Promise<Result>,
): Promise<Result | null> {
  const client = createClient(directUrl, {
    application_name: applicationName,
    query_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
  });
  try {
    await client.connect();
    await client.query(beginWith({ idle_in_transaction_session_timeout: 0 }));
    if (!(await takeLock(client, table))) return null;
    return await work();
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Returns false if another session holds the lock. */
async function takeLock(client: Client, table: string): Promise<boolean> {
  try {
    await client.query(`lock table ${table} in share update exclusive mode nowait`);
    return true;
  } catch (error) {
    if (toStoreError(error) instanceof LockTimeoutError) return false;
    throw error;
  }
}
