import type { QueryResultRow } from 'pg';
import { createClient } from '../connections/connect.ts';
import { LockTimeoutError, toStoreError } from '../kernel/errors.ts';
import type { Database, Statement, Transaction } from '../statements/database.ts';

/** A session with one side of a split, whose statements take as long as they need. */
export interface CellSession extends Database {
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Runs a statement that cannot be in a transaction. */
  run(text: string): Promise<void>;
}

/** Any number that no other advisory lock of the database uses. */
const splitLock = 4301801;
/** So long the session of a command that was killed may take to end. */
const lockMs = 5_000;

/**
 * Runs `work` in its own session, which holds the only lock on splits of this database.
 *
 * @param isHeld the message when another session holds the lock
 * @throws {StoreUnavailableError}
 */
export async function withCellSession<Result>(
  databaseUrl: string,
  isHeld: string,
  work: (session: CellSession) => Promise<Result>,
): Promise<Result> {
  const client = createClient(databaseUrl, {
    application_name: 'deedwire-split',
    connectionTimeoutMillis: 10_000,
    // The new side is read-only for all others until it is active.
    settings: {
      lock_timeout: lockMs,
      // Otherwise the server keeps the session of an operator that lost the network, and with it the lock, for hours.
      tcp_keepalives_idle: 5,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
      statement_timeout: 0,
      idle_in_transaction_session_timeout: 0,
      default_transaction_read_only: 'off',
      synchronous_commit: 'on',
    },
  });
  const query = async <Row extends QueryResultRow>({ text }: Statement, values: readonly unknown[]): Promise<Row[]> =>
    (await client.query<Row>(text, [...values])).rows;
  const transaction: Transaction = { query, notifyAfterCommit: () => {} };
  try {
    await client.connect();
    try {
      await client.query('select pg_advisory_lock($1)', [splitLock]);
    } catch (error) {
      throw toStoreError(error) instanceof LockTimeoutError ? new Error(isHeld) : error;
    }
    return await work({
      query,
      run: async (text) => void (await client.query(text)),
      async transaction(run) {
        await client.query('begin');
        try {
          const result = await run(transaction);
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch(() => {});
          throw error;
        }
      },
    });
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end().catch(() => {});
  }
}
