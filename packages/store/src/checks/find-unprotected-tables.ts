import { interfaceNamesOf, roleOf, type Service } from '@deedwire/core';
import { withSchema } from '../connections/search-path.ts';
import { openMigrationSession } from '../migrations/migration-session.ts';
import { hasRows, operations, reachesRow, readTables, statementFor } from './reach-rows.ts';

interface OwnTable {
  name: string;
  /** The interface that its rows belong to. Null: own_table() has not registered it. */
  interface: string | null;
  isProtected: boolean;
}

/**
 * Tries whether a login of one interface reaches rows of the tables of another one, even if a right was granted to it by mistake. Each table that
 * own_table() has registered needs a row. Nothing stays changed.
 *
 * @param databaseUrl of a superuser, as that of an embedded database
 * @param service lists its tables
 * @param schema of the tables. Defaults to the one of `migrate`
 * @returns a sentence for each table that is not protected. None: row-level security protects all of them
 */
export async function findUnprotectedTables(
  databaseUrl: string,
  service: Service,
  schema = 'deedwire',
): Promise<string[]> {
  const client = await openMigrationSession(withSchema(databaseUrl, schema), { lockMs: 10_000 });
  try {
    const {
      rows: [{ prefix } = { prefix: '' }],
    } = await client.query<{ prefix: string }>('select role_prefix() as prefix');
    const { rows: roles } = await client.query<{ rolname: string }>('select rolname from pg_roles');
    const { rows: own } = await client.query<OwnTable>(selectOwnTables, [service.tables]);
    const tables = new Map((await readTables(client)).map((table) => [table.name, table]));
    const problems: string[] = [];
    for (const { name, interface: of, isProtected } of own) {
      const table = tables.get(name);
      if (of === null || table === undefined || !isProtected) {
        problems.push(
          `The table ${name} has no row-level security. Call own_table() for it in a migration, after it was created.`,
        );
        continue;
      }
      const others = interfaceNamesOf(service)
        .filter((each) => each !== of)
        .map((each) => ({ interfaceName: each, role: `${prefix}${roleOf(each)}` }))
        .filter(({ role }) => roles.some(({ rolname }) => rolname === role));
      if (others.length > 0 && !(await hasRows(client, table))) {
        problems.push(`The table ${name} has no row, so that nothing can be tried. Insert one before.`);
        continue;
      }
      const columns = table.columns.filter(({ generated }) => !generated).map((column) => column.name);
      for (const { interfaceName, role } of others)
        for (const operation of operations) {
          const prepare = `grant all on ${name} to ${role}; ${operation === 'insert' ? `delete from ${name}` : ''}`;
          const statement = statementFor(table, operation, columns);
          if (await reachesRow(client, { role, table, rowsOf: of, statement, prepare }))
            problems.push(
              `With a right, a login of the interface ${interfaceName} can ${operation} rows of the table ${name}, which belongs to ${of}. Remove the policy that allows it.`,
            );
        }
    }
    return problems;
  } finally {
    await client.end();
  }
}

/** Those that own_table() has registered, and those that the service lists. */
const selectOwnTables = `
  select n.name, o.of_interface::text as interface,
    coalesce((select c.relrowsecurity from pg_class c where c.oid = to_regclass(quote_ident(n.name))), false) as "isProtected"
  from (select relation from own_table union select unnest($1::text[])) n (name)
  left join own_table o on o.relation = n.name
  where o.relation is null or to_regclass(quote_ident(n.name)) is not null
  order by 1`;
