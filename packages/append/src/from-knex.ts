import { createSession, type Place, type Session } from './session.ts';

/** A transaction or a database of `knex` on PostgreSQL, as far as it is used. */
export interface KnexDatabase {
  raw(text: string, values: readonly (string | null)[]): PromiseLike<{ rows: unknown[] }>;
  /** A transaction has true. */
  isTransaction?: boolean;
}

/** The transaction that `knex.transaction()` passes. */
export function fromKnex(trx: KnexDatabase, place: Place = {}): Session {
  return createSession(place, () => ({
    isInTransaction: trx.isTransaction === true,
    example: 'await knex.transaction(async (trx) => { … await append(fromKnex(trx), event, account, snapshot) })',
    query: async (text, values) => (await trx.raw(text.replaceAll(/\$\d+/g, '?'), values)).rows,
  }));
}
