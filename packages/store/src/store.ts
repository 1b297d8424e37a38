import { Pool, type PoolClient, type QueryResultRow } from 'pg';
import { StoreUnavailableError, toStoreError } from './errors.ts';

/** Where a statement runs: on any connection of the pool, or inside a transaction. */
export interface Database {
  query<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** A statement with the name under which each connection prepares it once. */
export interface Statement {
  name: string;
  text: string;
}

export interface Store extends Database {
  /** Runs `work` in a transaction: committed when it returns, rolled back when it throws. */
  transaction<Result>(work: (transaction: Database) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface StoreOptions {
  databaseUrl: string;
  /** Shown by `pg_stat_activity`. */
  applicationName: string;
  maxConnections?: number;
  /** Told of connections that break while idle. They are replaced by themselves. */
  onError?: (error: Error) => void;
}

const defaultMaxConnections = 10;

// A link that has gone half-open never answers: a statement that takes this long is given up and its connection closed.
const queryTimeoutMs = 10_000;

// An exhausted pool or a server that does not accept is told to the caller before its own patience ends.
const connectTimeoutMs = 3_000;

// In one message. The locks of a process that stands still or cannot be reached must not outlive its leases: the server ends
// its transaction. Set here, because a transaction pooler refuses it at connection.
const beginStatement = `begin; set local idle_in_transaction_session_timeout = '10s'`;

// A connection whose other end is gone without a word is found out after 20 s, not after the hours that systems default to.
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** Opens a pool of connections. Nothing is connected before the first statement. */
export function createStore(options: StoreOptions): Store {
  const pool = new Pool({
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    max: options.maxConnections ?? defaultMaxConnections,
    query_timeout: queryTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
    ...keepAliveOptions,
  });
  // Without a listener, a server that restarts ends this process.
  pool.on('error', (error) => options.onError?.(error));

  return {
    query: (statement, values) => run(pool, statement, values),

    async transaction(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw toStoreError(error);
      });
      let broken: Error | undefined;
      // A connection that breaks between two statements says so here, and only here.
      const onError = (error: Error): void => {
        broken = error;
      };
      client.on('error', onError);
      try {
        await client.query(beginStatement);
        const result = await work({ query: (statement, values) => run(client, statement, values) });
        await client.query('commit');
        return result;
      } catch (error) {
        const outward = toStoreError(error);
        if (outward instanceof StoreUnavailableError) {
          // Closing the connection rolls back, and does not wait for a server that may never answer.
          broken = outward;
        } else {
          await client.query('rollback').catch((rollbackError: Error) => {
            broken ??= rollbackError;
          });
        }
        throw outward;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    },

    close: () => pool.end(),
  };
}

async function run<Row extends QueryResultRow>(
  target: Pool | PoolClient,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  try {
    const { rows } = await target.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
    return rows;
  } catch (error) {
    throw toStoreError(error);
  }
}

/** The first of the rows, or null when there is none. */
export function firstRow<Row>(rows: readonly Row[]): Row | null {
  return rows[0] ?? null;
}

/** The only row of a statement that always returns one. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length !== 1) throw new Error(`Expected one row, got ${rows.length}.`);
  return row;
}
