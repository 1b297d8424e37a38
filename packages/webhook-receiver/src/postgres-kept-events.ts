import { field } from './field.ts';
import type { UnsignedHeaders } from './handlers.ts';
import type { KeptEvents } from './kept-events.ts';
import type { ReceiverLog } from './log.ts';
import { connectionOf, type PostgresPool, type PostgresTransactions, rootCause } from './postgres-connection.ts';
import { cleanUpOf, createTable, postgresTable, type PostgresTable, sqlOf } from './postgres-table.ts';
import type { InboxDelivery } from './webhook-inbox.ts';

export interface PostgresKeptEventsOptions {
  /** The name of the table, with the schema if it has one. Defaults to `webhook_kept_event`. */
  table?: string;
  /**
   * How many events are kept. Others are refused with 501, so that Deedwire retries them. Defaults to 10,000. Each event that is
   * kept counts the others: with a million, that takes a second.
   */
  maximum?: number;
  /** Where a failed removal of old events is reported. Defaults to `console`. */
  log?: ReceiverLog;
}

/** Events without a handler in the receiver's PostgreSQL. */
export interface PostgresKeptEvents extends KeptEvents {
  /** Creates the table unless it exists. Call it at start or in a migration. */
  createTable(): Promise<void>;
}

/** The column `unsigned` also has the alias, which few events have, and the source. */
interface StoredHeaders extends UnsignedHeaders, Pick<InboxDelivery, 'alias' | 'source'> {}

const defaultTable = 'webhook_kept_event';
const pageSize = 100;
const statementTimeoutMs = 30_000;

function keptEventsTable(table: string = defaultTable): PostgresTable {
  return postgresTable(
    'kept-events',
    table,
    [
      'id text primary key',
      'type text not null',
      'version text not null',
      'body text not null',
      'unsigned text not null',
      'received_at timestamptz not null default now()',
    ],
    'received_at',
  );
}

/**
 * Returns the SQL that creates the table of kept events, for a migration.
 *
 * @param grantTo the login of the service, which gets the rights on the table
 */
export function postgresKeptEventsSql(table: string = defaultTable, grantTo?: string): string {
  return sqlOf(keptEventsTable(table), grantTo);
}

/**
 * Keeps events without a handler in a table of the receiver's PostgreSQL, for 40 days.
 *
 * @param database a `Pool` of `pg`, or the functions of another library
 * @throws {TypeError} if an option is out of range
 */
export function postgresKeptEvents<Transaction>(
  database: PostgresPool | PostgresTransactions<Transaction>,
  { table, maximum = 10_000, log = console }: PostgresKeptEventsOptions = {},
): PostgresKeptEvents {
  if (!Number.isSafeInteger(maximum) || maximum < 1) throw new TypeError('maximum must be an integer of at least 1.');
  const created = keptEventsTable(table);
  const { name } = created;
  const connection = connectionOf(database);
  const cleanUp = cleanUpOf(connection, created, 'received_at', log);

  async function run(
    text: string,
    values: readonly unknown[],
    signal: AbortSignal = AbortSignal.timeout(statementTimeoutMs),
  ): Promise<readonly unknown[]> {
    try {
      return await connection.transaction((opened) => connection.query(opened, text, values), signal);
    } catch (error) {
      throw rootCause(error);
    }
  }

  return {
    async keep({ id, alias, type, version, body, unsigned, source }, signal) {
      const inserted = await run(
        `insert into ${name} (id, type, version, body, unsigned) select $1, $2, $3, $4, $5
        where (select count(*) from ${name}) < $6::int on conflict do nothing returning id`,
        [id, type, version, new TextDecoder().decode(body), JSON.stringify({ ...unsigned, alias, source }), maximum],
        signal,
      );
      cleanUp();
      return inserted.length > 0 || (await run(`select from ${name} where id = $1`, [id], signal)).length > 0;
    },

    async names() {
      const rows = await run(`select distinct type, version from ${name} order by type, version`, []);
      return rows.map((row) => ({ type: String(field(row, 'type')), version: String(field(row, 'version')) }));
    },

    async page({ type, version }, after) {
      const rows = await run(
        `select id, body, unsigned from ${name} where type = $1 and version = $2 and id > $3 order by id limit ${pageSize}`,
        [type, version, after ?? ''],
      );
      return rows.map((row) => {
        const { alias, source, ...unsigned }: StoredHeaders = JSON.parse(String(field(row, 'unsigned')));
        const body = new TextEncoder().encode(String(field(row, 'body')));
        return { id: String(field(row, 'id')), body, unsigned, source, ...(alias !== undefined && { alias }) };
      });
    },

    async remove(id) {
      await run(`delete from ${name} where id = $1`, [id]);
    },

    createTable: () => createTable(connection, created),
  };
}
