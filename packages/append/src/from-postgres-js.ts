import { createSession, type Place, type Session } from './session.ts';

/** A transaction or a pool of `postgres` (postgres.js), as far as it is used. */
export interface PostgresJsSql {
  unsafe(text: string, values: (string | null)[]): PromiseLike<readonly unknown[]>;
  /** A transaction has it. */
  savepoint?: unknown;
  /** A pool has it. */
  begin?: unknown;
}

/** The transaction that `sql.begin()` of `postgres` (postgres.js) passes. */
export function fromPostgresJs(sql: PostgresJsSql, place: Place = {}): Session {
  return createSession(place, () => ({
    isInTransaction: 'savepoint' in sql ? true : 'begin' in sql ? false : undefined,
    example: 'await sql.begin(async (tx) => { … await append(fromPostgresJs(tx), event, account, snapshot) })',
    query: async (text, values) => sql.unsafe(text, [...values]),
  }));
}
