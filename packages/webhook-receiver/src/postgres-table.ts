import { field } from './field.ts';
import { type ReceiverLog, writeLine } from './log.ts';
import {
  hasState,
  isWorkers,
  type PostgresConnection,
  type PostgresTransactions,
  rootCause,
} from './postgres-connection.ts';

/** As the command `sql` names it. */
export type TableKind = 'store' | 'inbox' | 'kept-events' | 'pull';

/** A table that remembers deliveries by their id. */
export interface PostgresTable {
  readonly kind: TableKind;
  /** As it is written in statements. */
  readonly name: string;
  /** As it is written in statements. Null if the search path decides. */
  readonly schema: string | null;
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
  const { name, schema, unquoted } = postgresTableName(table);
  // An index is in the schema of its table.
  const index = quotedName(`${unquoted}_${since}`);
  return {
    kind,
    name,
    schema,
    statements: [
      `create table if not exists ${name} (\n  ${columns.join(',\n  ')}\n)`,
      `create index if not exists ${index} on ${name} (${since})`,
    ],
  };
}

/**
 * A name as statements contain it, its schema or null, and the name without both.
 *
 * @param max characters of each part
 * @throws {TypeError} if the name is malformed
 */
export function postgresTableName(
  table: string,
  max = 50,
): Pick<PostgresTable, 'name' | 'schema'> & { readonly unquoted: string } {
  const parts = table.split('.');
  if (parts.length > 2 || parts.some((part) => part === '' || part.length > max))
    throw new TypeError(`table must be a name or schema.name, not ${JSON.stringify(table)}.`);
  const [schema = null] = parts.slice(0, -1).map(quotedName);
  return { name: parts.map(quotedName).join('.'), schema, unquoted: parts.at(-1) ?? table };
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * The SQL of a migration.
 *
 * @param grantTo the login of the service, if it is not the one that creates the table
 */
export function sqlOf({ name, schema, statements }: PostgresTable, grantTo?: string): string {
  const all = [...statements];
  if (grantTo !== undefined) {
    const login = quotedName(grantTo);
    if (schema !== null) all.push(`grant usage on schema ${schema} to ${login}`);
    all.push(`grant select, insert, update, delete on ${name} to ${login}`);
  }
  return `${all.join(';\n')};\n`;
}

/** Creates a table unless it exists. */
export async function createTable<Transaction>(
  connection: PostgresTransactions<Transaction>,
  { kind, name, statements }: PostgresTable,
): Promise<void> {
  await connection.transaction(async (opened) => {
    try {
      // `create table if not exists` needs the right to create tables even if the table exists.
      const [found] = await connection.query(opened, 'select to_regclass($1::text) is not null as exists', [name]);
      if (field(found, 'exists') === true) return;
      // If processes start at the same time, `if not exists` alone violates a unique index of the catalog.
      await connection.query(opened, 'select 1 from pg_advisory_xact_lock(hashtext($1))', [name]);
      for (const statement of statements) await connection.query(opened, statement, []);
    } catch (error) {
      if (!hasState(error, ['42501'])) throw error;
      throw new Error(
        `This login neither finds the table ${name} nor may create it. Create it in a migration, with the SQL that "npx @deedwire/webhook-receiver sql ${kind} --grant-to <login>" prints.`,
        { cause: error },
      );
    }
  });
}

const cleanUpEveryMs = 60 * 60 * 1000;
const cleanUpMax = 10_000;

/**
 * Returns a function that starts to remove old ids once an hour, so that no schedule is needed. If that fails, it is logged, and
 * the call after the next hour removes them. On Workers it does nothing.
 *
 * @param since the column that tells since when an id is remembered
 * @param timeoutMs how long one statement may take. Afterwards, its connection is closed
 */
export function cleanUpOf<Transaction>(
  connection: PostgresConnection<Transaction>,
  { kind, name }: PostgresTable,
  since: string,
  log: ReceiverLog,
  timeoutMs = 30_000,
): () => void {
  const statement = `delete from ${name} where id in (
      select id from ${name} where ${since} < now() - interval '40 days' limit ${cleanUpMax} for update skip locked
    ) returning id`;
  const removeAll = async (): Promise<void> => {
    for (let removed = cleanUpMax; removed === cleanUpMax;) {
      const signal = AbortSignal.timeout(timeoutMs);
      const rows = await connection.transaction((opened) => connection.query(opened, statement, []), signal);
      removed = rows.length;
    }
  };
  let nextCleanUpMs = 0;
  return () => {
    if (isWorkers || Date.now() < nextCleanUpMs) return;
    nextCleanUpMs = Date.now() + cleanUpEveryMs;
    removeAll().catch((error: unknown) => {
      const fix = hasState(error, ['42501'])
        ? `Grant this login what "npx @deedwire/webhook-receiver sql ${kind} --grant-to <login>" prints.`
        : 'The next attempt follows in an hour.';
      const message = `Rows of ${name} that are older than 40 days could not be removed. ${fix}`;
      writeLine(log, 'error', { code: 'CLEAN_UP_FAILED', err: rootCause(error) }, message);
    });
  };
}
