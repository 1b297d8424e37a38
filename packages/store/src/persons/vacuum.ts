import { DatabaseError } from 'pg';
import { createClient } from '../connections/connect.ts';
import { toStoreError } from '../kernel/errors.ts';

// PostgreSQL does not throttle VACUUM by itself. As for autovacuum.
const costDelayMs = 2;

/**
 * Removes deleted rows from tables, their indexes and their statistics, one after the other. It takes no lock that others wait for.
 *
 * @param directUrl a direct connection
 * @param tables those that do not exist are left out
 * @returns the tables that this login may not vacuum, as SQL takes them with any search path: only their owner and, from PostgreSQL 17 on, a login with MAINTAIN may
 */
export async function vacuumTables(
  directUrl: string,
  tables: readonly string[],
  onTable: (table: string) => void,
): Promise<string[]> {
  const client = createClient(directUrl, { application_name: 'deedwire-vacuum', connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    await client.query(
      `select set_config('statement_timeout', '0', false), set_config('vacuum_cost_delay', $1, false)`,
      [String(costDelayMs)],
    );
    const { rows } = await client.query<{ name: string; fullName: string; isAllowed: boolean }>(
      `select c.oid::regclass::text as name, format('%s.%I', c.relnamespace::regnamespace, c.relname) as "fullName",
         pg_has_role(c.relowner, 'usage') or pg_has_role(d.datdba, 'usage')
           or case when current_setting('server_version_num')::int >= 170000 then has_table_privilege(c.oid, 'maintain') end
           is true as "isAllowed"
       from unnest($1::text[]) with ordinality as t (name, number)
       join pg_class c on c.oid = to_regclass(t.name)
       join pg_database d on d.datname = current_database()
       order by t.number`,
      [tables],
    );
    for (const { name, isAllowed } of rows) {
      if (!isAllowed) continue;
      onTable(name);
      // Without `index_cleanup`, indexes keep the values of few rows, and without `analyze`, `pg_statistic` keeps samples of them.
      await client.query(`vacuum (analyze, index_cleanup on, truncate false) ${name}`).catch((error: unknown) => {
        // The worker can drop a partition meanwhile: undefined_table.
        if (!(error instanceof DatabaseError && error.code === '42P01')) throw error;
      });
    }
    return rows.filter(({ isAllowed }) => !isAllowed).map(({ fullName }) => fullName);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end().catch(() => {});
  }
}
