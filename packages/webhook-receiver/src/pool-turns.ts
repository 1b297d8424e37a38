import { poolMax, type PostgresPool, type PostgresTransactions } from './postgres-connection.ts';
import { Turnstile } from './turnstile.ts';

type Database = PostgresPool | PostgresTransactions<unknown>;

/**
 * The turns of the handlers of all stores and inboxes that use a pool. Each handler holds a connection, and may need another one:
 * handlers with all connections would wait for each other. The functions of another library set no limit.
 */
class PoolTurns {
  readonly all: Turnstile;
  /** Of jobs, which also need one of `all`. They can take minutes, and requests wait for two seconds, so a store keeps one turn. */
  readonly jobs: Turnstile;
  hasStore = false;

  constructor(max: number) {
    this.all = new Turnstile(() => max - 1);
    this.jobs = new Turnstile(() => (this.hasStore ? Math.max(1, max - 2) : max - 1));
  }
}

const turnsOfPools = new WeakMap<Database, PoolTurns>();

function turnsOf(database: Database): PoolTurns {
  const turns = turnsOfPools.get(database) ?? new PoolTurns(poolMax(database) ?? Infinity);
  turnsOfPools.set(database, turns);
  return turns;
}

export function turnsOfStore(database: Database): Pick<Turnstile, 'run'> {
  const turns = turnsOf(database);
  turns.hasStore = true;
  return turns.all;
}

export function turnsOfJobs(database: Database): Pick<Turnstile, 'run'> {
  const { jobs, all } = turnsOf(database);
  return { run: (work, giveUp) => jobs.run(() => all.run(work, giveUp), giveUp) };
}
