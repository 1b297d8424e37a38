import { createSession, type Place, type Session } from './session.ts';

/**
 * A transaction of any other driver: what runs a statement in it, with `$1` for the first value, and returns the rows. Two more round trips
 * find out whether a transaction is open.
 */
export function fromQuery(query: Session['query'], place: Place = {}): Session {
  return createSession(place, () => ({
    example:
      'await append(fromQuery((text, values) => transaction.query(text, values)), event, account, snapshot), between begin and commit',
    query,
  }));
}
