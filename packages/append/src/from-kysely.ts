import { createSession, type Place, type Session } from './session.ts';

/** A transaction or a database of `kysely`, as far as it is used. */
export interface KyselyDatabase<Query> {
  readonly isTransaction: boolean;
  executeQuery(query: Query): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The transaction that `db.transaction().execute()` of `kysely` passes, and `CompiledQuery` of `kysely`. */
export function fromKysely<Query>(
  trx: KyselyDatabase<Query>,
  compiledQuery: { raw(text: string, values: unknown[]): Query },
  place: Place = {},
): Session {
  return createSession(place, () => ({
    isInTransaction: trx.isTransaction,
    example:
      'await db.transaction().execute(async (trx) => { … await append(fromKysely(trx, CompiledQuery), event, account, snapshot) })',
    query: async (text, values) => (await trx.executeQuery(compiledQuery.raw(text, [...values]))).rows,
  }));
}
