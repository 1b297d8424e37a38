import { type Client, DatabaseError } from 'pg';

/** What a role may do with the rows of a table. */
export const operations = ['select', 'insert', 'update', 'delete'] as const;
export type Operation = (typeof operations)[number];

interface Column {
  name: string;
  /** The database computes its value. */
  generated: boolean;
}

export interface Table {
  name: string;
  columns: Column[];
}

/** The tables of the schema, from the catalog. A partition is covered by its table. */
export async function readTables(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name,
      json_agg(
        json_build_object('name', a.attname, 'generated', a.attidentity <> '' or a.attgenerated <> '') order by a.attnum
      ) as columns
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    group by c.relname
    order by c.relname`);
  return rows;
}

export const hasInterface = ({ columns }: Table): boolean => columns.some(({ name }) => name === 'interface');

export async function hasRows(client: Client, { name }: Table): Promise<boolean> {
  const { rowCount } = await client.query(`select from ${name} limit 1`);
  return rowCount === 1;
}

/** @param permitted the columns that it names */
export function statementFor(table: Table, operation: Operation, permitted: readonly string[]): string {
  // Without a permitted column, any column shows that the operation is denied.
  const [any] = table.columns.filter(({ generated }) => !generated);
  const columns = permitted.length > 0 ? permitted : [any?.name ?? ''];
  switch (operation) {
    case 'select':
      return `select ${columns.join(', ')} from ${table.name}`;
    case 'insert':
      return `insert into ${table.name} (${columns.join(', ')}) select ${columns.join(', ')} from only_row`;
    case 'update':
      return `update ${table.name} set ${columns.map((column) => `${column} = ${column}`).join(', ')}`;
    case 'delete':
      return `delete from ${table.name}`;
  }
}

/** SQLSTATE: insufficient privilege (also row-level security), foreign key violation, check violation. */
const refusals = new Set(['42501', '23503', '23514']);

export interface Reach {
  /** With its prefix. */
  role: string;
  table: Table;
  /** The interface whose rows the table has meanwhile. Of a table without the column `interface`, all stay. */
  rowsOf: string;
  statement: string;
  /** Statements of the superuser before it. */
  prepare?: string;
}

/**
 * Runs a statement as a role while the table contains only the rows of one interface, and undoes it. If it reads the temporary table
 * `only_row`, that contains the same rows. Returns whether the statement read or changed a row.
 *
 * @param superuser a session that nothing else uses
 */
export async function reachesRow(
  superuser: Client,
  { role, table, rowsOf, statement, prepare = '' }: Reach,
): Promise<boolean> {
  const copyRows = `create temporary table only_row on commit drop as select * from ${table.name}; grant select on only_row to public`;
  try {
    // As a replica, the superuser removes rows without regard to foreign keys.
    await superuser.query(`
      begin;
      set local session_replication_role = replica;
      delete from ${table.name} where ${hasInterface(table) ? `interface <> '${rowsOf}'` : 'false'};
      ${statement.includes('only_row') ? copyRows : ''};
      ${prepare};
      set local session_replication_role = origin;
      set local role ${role}`);
    const { rowCount } = await superuser.query(statement);
    return (rowCount ?? 0) > 0;
  } catch (error) {
    if (error instanceof DatabaseError && refusals.has(error.code ?? '')) return false;
    throw new Error(`${role}, rows of ${rowsOf}: ${statement}`, { cause: error });
  } finally {
    await superuser.query('rollback');
  }
}
