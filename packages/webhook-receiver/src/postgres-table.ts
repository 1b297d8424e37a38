import { field, hasState, type PostgresConnection, type PostgresTransactions } from './postgres-connection.ts';

/** As the command `sql` names it. */
export type TableKind = 'store' | 'inbox' | 'kept-events';

/** A table that remembers deliveries by their id. */
export interface PostgresTable {
  readonly kind: TableKind;
  /** As it is written in statements. */
  readonly name: string;
  /** Each can run again. */
  readonly statements: readonly string[];
}

/**
 * @param table a name, with the schema if it has one
 * @param since the column that tells since when an id is remembered
 * @throws {TypeError} if the name is malformed
 */
export function postgresTable(
  kind: TableKind,
  table: string,
  columns: readonly string[],
  since: string,
): PostgresTable {
  const parts = table.split('.');
  if (parts.length > 2 || parts.some((part) => part === '' || part.length > 50))
    throw new TypeError(`table must be a name or schema.name, not ${JSON.stringify(table)}.`);
  const name = parts.map(quotedName).join('.');
  // An index is in the schema of its table.
  const index = quotedName(`${parts.at(-1) ?? table}_${since}`);
  return {
    kind,
    name,
    statements: [
      `create table if not exists ${name} (\n  ${columns.join(',\n  ')}\n)`,
      `create index if not exists ${index} on ${name} (${since})`,
    ],
  };
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The SQL of a migration. */
export function sqlOf({ statements }: PostgresTable): string {
  return `${statements.join(';\n')};\n`;
}

/** Creates a table unless it exists. */
export async function createTable<Transaction>(
  connection: PostgresTransactions<Transaction>,
  { kind, name, statements }: PostgresTable,
): Promise<void> {
  await connection.transaction(async (opened) => {
    // `create table if not exists` needs the right to create tables even if the table exists.
    const [found] = await connection.query(opened, 'select to_regclass($1::text) is not null as exists', [name]);
    if (field(found, 'exists') === true) return;
    // If processes start at the same time, `if not exists` alone violates a unique index of the catalog.
    await connection.query(opened, 'select 1 from pg_advisory_xact_lock(hashtext($1))', [name]);
    try {
      for (const statement of statements) await connection.query(opened, statement, []);
    } catch (error) {
      if (!hasState(error, ['42501'])) throw error;
      throw new Error(
        `The table ${name} does not exist, and this login may not create it. Create it in a migration, with the SQL that "npx deedwire-webhook-receiver sql ${kind}" prints.`,
        { cause: error },
      );
    }
  });
}

const cleanUpEveryMs = 60 * 60 * 1000;
const cleanUpMax = 10_000;

/**
 * Returns a function that starts to remove old ids once an hour, so that no schedule is needed. If that fails, the call after
 * the next hour removes them.
 *
 * @param since the column that tells since when an id is remembered
 * @param timeoutMs how long one statement may take. Afterwards, its connection is closed
 */
export function cleanUpOf<Transaction>(
  connection: PostgresConnection<Transaction>,
  { name }: PostgresTable,
  since: string,
  timeoutMs = 30_000,
): () => void {
  const statement = `with removed as (
    delete from ${name} where id in (
      select id from ${name} where ${since} < now() - interval '40 days' limit ${cleanUpMax} for update skip locked
    ) returning 1
  ) select count(*)::int as count from removed`;
  const removeAll = async (): Promise<void> => {
    for (let removed = cleanUpMax; removed === cleanUpMax;) {
      const signal = AbortSignal.timeout(timeoutMs);
      const [row] = await connection.transaction((opened) => connection.query(opened, statement, []), signal);
      removed = Number(field(row, 'count'));
    }
  };
  let nextCleanUpMs = 0;
  return () => {
    if (Date.now() < nextCleanUpMs) return;
    nextCleanUpMs = Date.now() + cleanUpEveryMs;
    removeAll().catch(() => {});
  };
}
