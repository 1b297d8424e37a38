import { createSession, type Place, type Session } from './session.ts';

/** A transaction or a database of `drizzle-orm` on PostgreSQL, as far as it is used. */
export interface DrizzleDatabase<Query> {
  execute(query: Query): PromiseLike<readonly unknown[] | { readonly rows: readonly unknown[] }>;
  /** A transaction has it. */
  rollback?: unknown;
}

/** The transaction that `db.transaction()` of `drizzle-orm` passes, and `sql` of `drizzle-orm`. */
export function fromDrizzle<Query>(
  tx: DrizzleDatabase<Query>,
  sql: (strings: TemplateStringsArray, ...values: unknown[]) => Query,
  place: Place = {},
): Session {
  return createSession(place, () => ({
    isInTransaction: typeof tx.rollback === 'function',
    example: 'await db.transaction(async (tx) => { … await append(fromDrizzle(tx, sql), event, account, snapshot) })',
    async query(text, values) {
      const parts = text.split(/\$\d+/);
      const result = await tx.execute(sql(Object.assign(parts, { raw: parts }), ...values));
      return 'rows' in result ? result.rows : result;
    },
  }));
}
