import type { AppProcess } from '../app-process.ts';
import type { Receivers } from '../delivery/receivers.ts';
import type { Load } from '../graphql/load.ts';
import type { BenchPostgres } from '../postgres.ts';

/** What commits an event and sends its webhook, with the database that is held back. */
export interface Contestant {
  readonly name: string;
  /** As its superuser. */
  readonly databaseUrl: string;
  /**
   * Commits an event whose body contains `name`, of one of its accounts, each of which has one endpoint.
   *
   * @returns when it was committed, by `machineMs()`
   */
  commit(account: number, name: string): Promise<number>;
}

/** Ours, with what some pressures need. */
export interface OurContestant extends Contestant {
  /** Of the worker. */
  readonly login: string;
  /** Commits events of an account that has no others, 1,000 in a transaction. */
  commitBurst(names: readonly string[]): Promise<number>;
  worker(): AppProcess;
  /** Kills the worker, and starts another one. */
  restartWorker(): Promise<void>;
  /** Reads the first page of the deliveries of each account through the interface, once a second on each connection. */
  readDeliveries(load: Load, plan: { connections: number; durationMs: number }): Promise<void>;
}

export interface Scene<Tested extends Contestant = Contestant> {
  postgres: BenchPostgres;
  receiver: Receivers;
  contestant: Tested;
}

/** The accounts of a contestant. */
export const accountCount = 20;
