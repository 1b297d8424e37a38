import { field } from './field.ts';
import { type PostgresConnection, rootCause } from './postgres-connection.ts';
import { createTable, postgresTableName, type PostgresTable, sqlOf } from './postgres-table.ts';
import type { PullPositions } from './pull-positions.ts';
import { rememberedMs } from './store.ts';

const statementTimeoutMs = 3_000;
/** That of the store or the inbox has at most 50 characters. */
const nameMax = 55;

function pullTable(table: string): PostgresTable {
  const { name, schema } = postgresTableName(table, nameMax);
  return {
    kind: 'pull',
    name,
    schema,
    statements: [
      `create table if not exists ${name} (\n  subscription_id text primary key,\n  position text,\n  holder text,\n  held_until timestamptz\n)`,
    ],
  };
}

/**
 * Returns the SQL that creates the table in which a store keeps how far each subscription was pulled, for a migration.
 *
 * @param table that of the store or the inbox, followed by `_pull`
 * @param grantTo the login of the service, which gets the rights on the table
 */
export function postgresPullSql(table: string = 'webhook_receipt_pull', grantTo?: string): string {
  return sqlOf(pullTable(table), grantTo);
}

/** @param table of the store or the inbox. The first run creates the table of the positions unless it exists. */
export function postgresPositions(connection: PostgresConnection<unknown>, table: string): PullPositions {
  let created: Promise<PostgresTable> | undefined;

  async function tableName(): Promise<string> {
    const creating = (created ??= (async () => {
      const definition = pullTable(`${table}_pull`);
      await createTable(connection, definition);
      return definition;
    })());
    try {
      return (await creating).name;
    } catch (error) {
      created = undefined;
      throw error;
    }
  }

  async function run(statement: (name: string) => string, ...values: readonly unknown[]): Promise<readonly unknown[]> {
    const name = await tableName();
    try {
      const signal = AbortSignal.timeout(statementTimeoutMs);
      return await connection.transaction((opened) => connection.query(opened, statement(name), values), signal);
    } catch (error) {
      throw rootCause(error);
    }
  }

  return {
    rememberedMs,

    async take(subscriptionId, holder, leaseMs) {
      const [row] = await run(
        (name) => `insert into ${name} as pulled (subscription_id, holder, held_until)
        values ($1, $2, clock_timestamp() + $3::double precision * interval '1 ms')
        on conflict (subscription_id) do update set holder = excluded.holder, held_until = excluded.held_until
        where pulled.holder is null or pulled.holder = excluded.holder or pulled.held_until < clock_timestamp()
        returning position`,
        subscriptionId,
        holder,
        leaseMs,
      );
      if (row === undefined) return null;
      const position = field(row, 'position');
      return { position: typeof position === 'string' ? position : null };
    },

    async keep(subscriptionId, holder, leaseMs, position) {
      const rows = await run(
        (name) => `update ${name} set position = coalesce($4::text, position),
        held_until = clock_timestamp() + $3::double precision * interval '1 ms'
        where subscription_id = $1 and holder = $2 returning subscription_id`,
        subscriptionId,
        holder,
        leaseMs,
        position,
      );
      return rows.length > 0;
    },

    async release(subscriptionId, holder) {
      await run(
        (name) =>
          `update ${name} set holder = null where subscription_id = $1 and holder = $2 returning subscription_id`,
        subscriptionId,
        holder,
      );
    },
  };
}
