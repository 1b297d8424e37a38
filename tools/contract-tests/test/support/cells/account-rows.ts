import { connect } from '@deedwire/testing';

/** The rows of some accounts, each as text, by table. */
export type AccountRows = ReadonlyMap<string, ReadonlySet<string>>;

/** The columns that lead to an account, the first of a table counts, with the accounts' values. */
const paths = [
  ['account_id', 'select unnest($1::bigint[])'],
  ['subscription_id', 'select id from webhook_subscription where account_id = any ($1)'],
  ['api_client_id', 'select id from api_client where account_id = any ($1)'],
  ['delivery_id', 'select id from webhook_delivery where account_id = any ($1)'],
] as const;

/** What a split itself changes, what operators did, and what queries write. */
const left = ['account_home', 'audit_entry', 'cost_bucket', 'interface_use'];

/** Reads all that a cell has of some accounts. */
export async function readAccountRows(databaseUrl: string, accountIds: readonly string[]): Promise<AccountRows> {
  const connection = await connect(databaseUrl);
  try {
    await connection.run('begin isolation level repeatable read');
    const columns = await connection.run(
      `select c.relname as name, array_agg(a.attname::text) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
         and relname <> all ($1::text[])
       group by c.relname`,
      [left],
    );
    const rows = new Map<string, ReadonlySet<string>>();
    for (const { name, columns: known } of columns) {
      const path = paths.find(([column]) => (known as string[]).includes(column));
      const [column, values] = name === 'account' ? (['id', paths[0][1]] as const) : (path ?? []);
      if (column === undefined) continue;
      const found = await connection.run(
        `select (to_jsonb(t) - 'last_used_at' - 'last_read_at')::text as row from ${String(name)} t where ${column} in (${values})`,
        [accountIds],
      );
      rows.set(String(name), new Set(found.map(({ row }) => String(row))));
    }
    return rows;
  } finally {
    await connection.close();
  }
}

/** Some rows that only one of both has, with their table. */
export function differences(before: AccountRows, after: AccountRows, without: readonly string[] = []): string[] {
  return [...before].flatMap(([table, rows]) => {
    if (without.includes(table)) return [];
    const now = after.get(table) ?? new Set();
    const gone = [...rows].filter((row) => !now.has(row)).map((row) => `- ${table}: ${row}`);
    const added = [...now].filter((row) => !rows.has(row)).map((row) => `+ ${table}: ${row}`);
    return [...gone.slice(0, 2), ...added.slice(0, 2)];
  });
}
