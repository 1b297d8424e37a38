import {
  checkTransaction,
  cleanUpOf,
  connectionOf,
  createTableWith,
  field,
  isContention,
  type PostgresClient,
  type PostgresPool,
  type PostgresTransactions,
  quotedName,
} from './postgres-connection.ts';
import type { OnceResult, WebhookStore } from './store.ts';

export type { PostgresClient, PostgresPool, PostgresQueryable, PostgresTransactions } from './postgres-connection.ts';

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
  const connection = connectionOf(database);
  const cleanUp = cleanUpOf(connection, name, 'received_at');

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
      await cleanUp();
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

    createTable: () =>
      createTableWith(connection, table, 'id text primary key, received_at timestamptz not null default now()', {
        received_at: '',
      }),
  };
}
