import { field } from './field.ts';
import { runInTransaction } from './handler-transaction.ts';
import type { ReceiverLog } from './log.ts';
import { turnsOfStore } from './pool-turns.ts';
import {
  checkPoolMax,
  connectionOf,
  isContention,
  poolMax,
  type PostgresClientOf,
  type PostgresPool,
  type PostgresTransactions,
} from './postgres-connection.ts';
import { postgresPositions } from './postgres-positions.ts';
import { cleanUpOf, createTable, postgresTable, type PostgresTable, sqlOf } from './postgres-table.ts';
import { type OnceResult, WorkFailedError, type WebhookStore } from './store.ts';
import { Turnstile } from './turnstile.ts';

export type {
  PostgresClient,
  PostgresClientOf,
  PostgresPool,
  PostgresQueryable,
  PostgresTransactions,
} from './postgres-connection.ts';

export { postgresPullSql } from './postgres-positions.ts';
export {
  postgresKeptEvents,
  postgresKeptEventsSql,
  type PostgresKeptEvents,
  type PostgresKeptEventsOptions,
} from './postgres-kept-events.ts';

export interface PostgresStoreOptions {
  /** The name of the table, with the schema if it has one. Defaults to `webhook_receipt`. */
  table?: string;
  /**
   * How many deliveries are processed at once. Each holds a connection until its handler has ended, so the pool needs at least
   * one more for the statements that handlers send outside their transaction. A delivery above it waits for up to 2 seconds,
   * and is then refused, so that Deedwire retries it. Defaults to one less than the connections of the pool (`max`), and to 4
   * with the functions of another library.
   */
  concurrency?: number;
  /** Where a failed removal of old ids is reported. Defaults to `console`. */
  log?: ReceiverLog;
}

/** A store whose handlers make their changes in the transaction that remembers the delivery. */
export interface PostgresStore<Transaction> extends WebhookStore<Transaction> {
  /** Creates the table unless it exists. Call it at start or in a migration. */
  createTable(): Promise<void>;
}

const defaultTable = 'webhook_receipt';

function storeTable(table: string = defaultTable): PostgresTable {
  return postgresTable(
    'store',
    table,
    ['id text primary key', 'received_at timestamptz not null default now()'],
    'received_at',
  );
}

/**
 * Returns the SQL that creates the table of the store, for a migration.
 *
 * @param grantTo the login of the service, which gets the rights on the table
 */
export function postgresStoreSql(table: string = defaultTable, grantTo?: string): string {
  return sqlOf(storeTable(table), grantTo);
}

const lockTimeout = '200ms';
const slotWaitMs = 2_000;
const defaultConcurrency = 4;

/**
 * Remembers deliveries in a table of the receiver's PostgreSQL, in the same transaction as the changes of the handler. So these
 * changes are made exactly once, whatever fails.
 *
 * @param database a `Pool` of `pg`, whose clients are then the transactions, or the functions of another library
 * @throws {TypeError} if the name of the table is malformed, or `concurrency` is no positive integer below the connections of
 *   the pool
 */
export function postgresStore<Pool extends PostgresPool>(
  database: Pool,
  options?: PostgresStoreOptions,
): PostgresStore<PostgresClientOf<Pool>>;
export function postgresStore<Transaction>(
  database: PostgresTransactions<Transaction>,
  options?: PostgresStoreOptions,
): PostgresStore<Transaction>;
export function postgresStore(
  database: PostgresPool | PostgresTransactions<unknown>,
  { table, concurrency = concurrencyFor(database), log = console }: PostgresStoreOptions = {},
): PostgresStore<unknown> {
  const created = storeTable(table);
  const { name } = created;
  checkConcurrency(concurrency, database);
  const turnstile = new Turnstile(() => concurrency);
  const connection = connectionOf(database);
  const turns = turnsOfStore(database);
  const cleanUp = cleanUpOf(connection, created, 'received_at', log);

  /** Inserts the ids of a delivery, unless it was processed before or is being processed. */
  async function claim(
    opened: unknown,
    ids: readonly string[],
    again: boolean,
  ): Promise<{ skipped: OnceResult | null; xid: unknown }> {
    const [settings] = await connection.query(
      opened,
      `select current_setting('lock_timeout') as before, set_config('lock_timeout', $1, true)`,
      [lockTimeout],
    );
    try {
      if (again) await connection.query(opened, `delete from ${name} where id = any($1::text[])`, [ids]);
      // Waits while another transaction inserts one of the ids, until the lock timeout.
      const inserted = await connection.query(
        opened,
        `insert into ${name} (id) select unnest($1::text[]) on conflict do nothing returning id`,
        [ids],
      );
      if (inserted.length < ids.length) return { skipped: again ? 'busy' : 'duplicate', xid: null };
    } catch (error) {
      if (isContention(error)) return { skipped: 'busy', xid: null };
      throw error;
    }
    // The statements of the handler have the timeout that they would have without the store.
    const [started] = await connection.query(
      opened,
      `select set_config('lock_timeout', $1, true), pg_current_xact_id()::text as xid`,
      [field(settings, 'before')],
    );
    return { skipped: null, xid: field(started, 'xid') };
  }

  return {
    async once(id, work, signal, alias, again = false) {
      const ids = alias === undefined ? [id] : [id, alias];
      let skipped: OnceResult | null = null;
      let workFailed: WorkFailedError | null = null;
      const process = async (opened: unknown, lost?: AbortSignal): Promise<OnceResult> => {
        const claimed = await claim(opened, ids, again);
        skipped = claimed.skipped;
        // Rolls back without a failure of the work.
        if (skipped !== null) throw new Error(`The delivery ${id} is ${skipped}.`);
        try {
          await runInTransaction(connection, opened, claimed.xid, (transaction) => work(transaction, lost));
        } catch (error) {
          if (WorkFailedError.isInstance(error)) workFailed = error;
          throw error;
        }
        return 'processed';
      };
      const giveUp = AbortSignal.timeout(slotWaitMs);
      const inTurn = (): Promise<OnceResult | null> => turns.run(() => connection.transaction(process, signal), giveUp);
      try {
        const result = await turnstile.run(inTurn, giveUp);
        if (result === null) throw overloaded(concurrency, poolMax(database));
        cleanUp();
        return result;
      } catch (error) {
        if (skipped !== null) return skipped;
        // Some libraries wrap what the work throws.
        throw workFailed ?? error;
      }
    },

    async forget(which) {
      const condition = 'ids' in which ? 'id = any($1::text[])' : 'received_at >= $1::timestamptz';
      const value = 'ids' in which ? which.ids : which.since.toISOString();
      const rows = await connection.transaction((opened) =>
        connection.query(opened, `delete from ${name} where ${condition} returning id`, [value]),
      );
      return rows.length;
    },

    createTable: () => createTable(connection, created),

    positions: postgresPositions(connection, table ?? defaultTable),
  };
}

function concurrencyFor(database: PostgresPool | PostgresTransactions<unknown>): number {
  const max = poolMax(database);
  return max === null ? defaultConcurrency : max - 1;
}

function checkConcurrency(concurrency: number, database: PostgresPool | PostgresTransactions<unknown>): void {
  const max = poolMax(database);
  checkPoolMax(max);
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new TypeError('concurrency must be an integer of at least 1.');
  if (max !== null && concurrency >= max)
    throw new TypeError(
      `concurrency is ${concurrency}, and the pool has ${max} connections. It must be less: handlers that wait for a connection of the same pool would wait for each other.`,
    );
}

function overloaded(concurrency: number, max: number | null): Error {
  const ofPool = max === null ? '' : `, and the limit of all stores and inboxes of this pool is ${max - 1}`;
  return new Error(
    `The delivery waited for ${slotWaitMs / 1_000} s for other handlers to end: concurrency is ${concurrency}${ofPool}. Enlarge the pool, let the library of an inbox run fewer jobs at once, or process slow work after the response.`,
  );
}
