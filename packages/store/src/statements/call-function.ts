import type { Database } from './database.ts';

/** Calls a function of the database. Returns its rows, each as PostgreSQL formats it, or with `asJson` as a JSON object. */
export async function callFunction<Result>(
  database: Database,
  name: string,
  values: readonly unknown[],
  asJson = false,
): Promise<Result[]> {
  const call = `${name}(${values.map((_, index) => `$${index + 1}`).join(', ')})`;
  const text = asJson ? `select to_jsonb(r) as result from ${call} r` : `select ${call} as result`;
  const rows = await database.query<{ result: Result }>({ name: name.replaceAll('_', '-'), text }, values);
  return rows.map(({ result }) => result);
}
