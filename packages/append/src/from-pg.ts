import { createSession, type Place, type Session } from './session.ts';

/** A client or a pool of `pg`, as far as it is used. */
export interface PgClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** `I` outside of a transaction. A pool, and a release before 8.17, has none. */
  getTransactionStatus?(): string | null;
}

/** A client of `pg`, after its `begin`. */
export function fromPg(client: PgClient, place: Place = {}): Session {
  return createSession(place, () => {
    const status = client.getTransactionStatus?.() ?? undefined;
    return {
      isInTransaction: status === undefined ? undefined : status !== 'I',
      example: `await client.query('begin'); … await append(fromPg(client), event, account, snapshot); await client.query('commit'), with a client of pool.connect()`,
      query: async (text, values) => (await client.query(text, [...values])).rows,
    };
  });
}
