import { poolMax, type PostgresPool, type PostgresTransactions } from './postgres-connection.ts';
import { Turnstile } from './turnstile.ts';

const turnsOfPools = new WeakMap<PostgresPool | PostgresTransactions<unknown>, Turnstile>();

/**
 * The turns of the handlers of all stores and inboxes that use a pool. Each handler holds a connection, and may need another one:
 * handlers with all connections would wait for each other. The functions of another library set no limit.
 */
export function turnsOf(database: PostgresPool | PostgresTransactions<unknown>): Turnstile {
  const max = poolMax(database);
  const turns = turnsOfPools.get(database) ?? new Turnstile(max === null ? Infinity : max - 1);
  turnsOfPools.set(database, turns);
  return turns;
}
