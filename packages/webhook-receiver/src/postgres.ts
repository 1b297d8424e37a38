import { type OnceResult, WorkFailedError, type WebhookStore } from './store.ts';

/** The part of a connection of `pg` that the store uses. */
export interface PostgresQueryable {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The part of a `Pool` of `pg` that the store uses. */
export interface PostgresPool<Client extends PostgresClient = PostgresClient> extends PostgresQueryable {
  connect(): Promise<Client>;
}

export interface PostgresClient extends PostgresQueryable {
  release(error?: boolean | Error): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** Any library that opens transactions, for example Kysely, Drizzle or Prisma. */
export interface PostgresTransactions<Transaction> {
  /** Opens a transaction, runs the work in it, and commits. Rolls back and throws the error of the work if it fails. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Runs one statement in the transaction, with parameters `$1`, `$2`, …, and returns its rows. */
  query(transaction: Transaction, text: string, values: readonly unknown[]): Promise<readonly unknown[]>;
}

export interface PostgresStoreOptions {
  /** The name of the table, with the schema if it has one. Defaults to `webhook_receipt`. */
  table?: string;
}

/** A store whose handlers make their changes in the transaction that remembers the delivery. */
export interface PostgresStore<Transaction> extends WebhookStore<Transaction> {
  /** Creates the table unless it exists. Call it at start or in a migration. */
  createTable(): Promise<void>;
}

const lockTimeout = '200ms';
const cleanUpEveryMs = 60 * 60 * 1000;
const cleanUpMax = 10_000;

/**
 * Remembers deliveries in a table of the receiver's PostgreSQL, in the same transaction as the changes of the handler. So these
 * changes are made exactly once, whatever fails.
 *
 * @param database a `Pool` of `pg`, whose clients are then the transactions, or the functions of another library
 */
export function postgresStore<Client extends PostgresClient>(
  database: PostgresPool<Client>,
  options?: PostgresStoreOptions,
): PostgresStore<Client>;
export function postgresStore<Transaction>(
  database: PostgresTransactions<Transaction>,
  options?: PostgresStoreOptions,
): PostgresStore<Transaction>;
export function postgresStore(
  database: PostgresPool | PostgresTransactions<unknown>,
  { table = 'webhook_receipt' }: PostgresStoreOptions = {},
): PostgresStore<unknown> {
  const name = quotedName(table);
  const connection = 'transaction' in database ? database : transactionsOf(database);
  let nextCleanUpMs = 0;

  /** Removes old ids once an hour, so that no schedule is needed. */
  async function cleanUp(): Promise<void> {
    if (Date.now() < nextCleanUpMs) return;
    nextCleanUpMs = Date.now() + cleanUpEveryMs;
    await connection.transaction((opened) =>
      connection.query(
        opened,
        `delete from ${name} where id in (
          select id from ${name} where received_at < now() - interval '40 days' limit ${cleanUpMax} for update skip locked
        )`,
        [],
      ),
    );
  }

  return {
    async once(id, work) {
      let skipped: OnceResult | null = null;
      try {
        await connection.transaction(async (opened) => {
          skipped = null;
          const [settings] = await connection.query(
            opened,
            `select current_setting('lock_timeout') as before, set_config('lock_timeout', $1, true)`,
            [lockTimeout],
          );
          try {
            // Waits while another transaction inserts the same id, until the lock timeout.
            const inserted = await connection.query(
              opened,
              `insert into ${name} (id) values ($1) on conflict do nothing returning id`,
              [id],
            );
            if (inserted.length === 0) skipped = 'duplicate';
          } catch (error) {
            if (!isContention(error)) throw error;
            skipped = 'busy';
          }
          // Rolls back without a failure of the work.
          if (skipped !== null) throw new Error(`The delivery ${id} is ${skipped}.`);
          // The statements of the handler have the timeout that they would have without the store.
          const [started] = await connection.query(
            opened,
            `select set_config('lock_timeout', $1, true), pg_current_xact_id()::text as xid`,
            [field(settings, 'before')],
          );
          await work(opened);
          await checkTransaction(connection, opened, field(started, 'xid'));
        });
      } catch (error) {
        if (skipped !== null) return skipped;
        throw error;
      }
      // The delivery is processed whether or not old ids can be removed.
      await cleanUp().catch(() => {});
      return 'processed';
    },

    async forget(which) {
      const condition = 'ids' in which ? 'id = any($1::text[])' : 'received_at >= $1::timestamptz';
      const value = 'ids' in which ? which.ids : which.since.toISOString();
      const rows = await connection.transaction((opened) =>
        connection.query(opened, `delete from ${name} where ${condition} returning id`, [value]),
      );
      return rows.length;
    },

    async createTable() {
      await connection.transaction(async (opened) => {
        await connection.query(
          opened,
          `create table if not exists ${name} (id text primary key, received_at timestamptz not null default now())`,
          [],
        );
        await connection.query(opened, `create index if not exists ${indexName(table)} on ${name} (received_at)`, []);
      });
    },
  };
}

function transactionsOf(pool: PostgresPool): PostgresTransactions<PostgresClient> {
  return {
    async transaction(work) {
      const client = await pool.connect();
      // Without a listener, a connection that is lost between two statements would end the process. The next statement fails.
      client.on('error', ignore);
      let failure: Error | undefined;
      try {
        await client.query('begin', []);
        const result = await work(client);
        await client.query('commit', []);
        return result;
      } catch (error) {
        await client.query('rollback', []).catch((rollbackError: Error) => {
          failure = rollbackError;
        });
        throw error;
      } finally {
        client.off('error', ignore);
        // A connection that could not roll back is closed.
        client.release(failure);
      }
    },
    async query(client, text, values) {
      const { rows } = await client.query(text, [...values]);
      return rows;
    },
  };
}

function ignore(): void {}

/**
 * PostgreSQL answers a COMMIT of a failed transaction with ROLLBACK and without an error, and a COMMIT without a transaction
 * with a warning.
 *
 * @param xid the id of the transaction before the work
 * @throws {WorkFailedError} if the transaction failed or ended meanwhile
 */
async function checkTransaction<Transaction>(
  connection: PostgresTransactions<Transaction>,
  opened: Transaction,
  xid: unknown,
): Promise<void> {
  let rows: readonly unknown[];
  try {
    rows = await connection.query(opened, `select pg_current_xact_id_if_assigned()::text as xid`, []);
  } catch (error) {
    if (!hasState(error, ['25P02'])) throw error;
    throw new WorkFailedError(
      'A statement of the handler failed, and the handler did not throw. The transaction is rolled back. Throw the error, or use a savepoint.',
      { cause: error },
    );
  }
  if (field(rows[0], 'xid') === xid) return;
  throw new WorkFailedError('The handler ended the transaction. Leave COMMIT and ROLLBACK to the store.');
}

function field(row: unknown, name: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, name) : undefined;
}

/** The lock timeout, or at the isolation levels above READ COMMITTED a conflict with a concurrent insert of the same id. */
function isContention(error: unknown): boolean {
  return hasState(error, ['40001', '40P01', '55P03']);
}

/**
 * Libraries wrap the error of the driver: in `cause` (Drizzle), or in `meta.driverAdapterError.cause` (Prisma), which has
 * `originalCode` in place of `code` if Prisma knows the error.
 */
function hasState(error: unknown, states: readonly string[]): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const isState = (key: string): boolean => states.some((state) => state === Reflect.get(error, key));
  if (isState('code') || isState('originalCode')) return true;
  return ['cause', 'meta', 'driverAdapterError'].some((key) => hasState(Reflect.get(error, key), states));
}

function quotedName(table: string): string {
  const parts = table.split('.');
  if (parts.length > 2 || parts.some((part) => part === '' || part.length > 50))
    throw new TypeError(`table must be a name or schema.name, not ${JSON.stringify(table)}.`);
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}

function indexName(table: string): string {
  return quotedName(`${table.split('.').at(-1) ?? table}_received_at`);
}
