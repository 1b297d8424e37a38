import type { InterfaceApp } from '@deedwire/core';
import { type Database, onlyRow, sql } from '../statements/database.ts';

export type RegisteredApp = InterfaceApp | 'webhook-worker' | 'operator-cli';

/** A process and its build. */
export interface RegisteredProcess {
  app: RegisteredApp;
  id: string;
  version: string;
  /** SHA-256 of its contracts. Null: it has none. */
  digest: string | null;
}

/**
 * Registers that a process runs. Served by app_process_pkey.
 *
 * @returns false if the contracts with its digest are not stored, or the login is also that of other apps: then it is registered
 * without them
 */
export async function registerProcess(
  database: Database,
  { app, id, version, digest }: RegisteredProcess,
): Promise<boolean> {
  const statement = sql('register-process')`select register_process($1, $2, $3, $4) as known`;
  return onlyRow(await database.query<{ known: boolean }>(statement, [app, id, version, digest])).known;
}

/** The number of the cell, as new ids have it: apps may not read the table that has it. */
export async function drawCell(database: Database): Promise<number> {
  const statement = sql('draw-cell')`select ((new_record_id() >> 12) & 1023)::int as cell`;
  return onlyRow(await database.query<{ cell: number }>(statement, [])).cell;
}

/** Stores the contracts of a build, once. */
export async function storeAppContracts(database: Database, app: RegisteredApp, contracts: string): Promise<void> {
  await database.query(sql('store-app-contracts')`select store_app_contracts($1, $2)`, [app, contracts]);
}

export async function endProcess(
  database: Database,
  { app, id }: Pick<RegisteredProcess, 'app' | 'id'>,
): Promise<void> {
  await database.query(sql('end-process')`select end_process($1, $2)`, [app, id]);
}

/** The coordinate is empty for the version itself. */
export type CountedUse = readonly [clientId: string, version: string, coordinate: string, count: number];

/** The period in which a process counted. */
export interface CountingPeriod {
  /** Since the last call returned, by the monotonic clock of the process. Null: counts before may be lost. */
  countedMs: number | null;
  /** Counts of the period are lost. */
  isOverflowed: boolean;
  /** The process counts no more. */
  isEnded: boolean;
  /** The deprecated coordinates that it counts, one a line: `2026-11-01 Query.old`. */
  coordinates: string;
}

/** Adds counts and continues the period of the process. Served by interface_use_pkey and use_counting_open. */
export async function recordUse(
  database: Database,
  { app, id }: Pick<RegisteredProcess, 'app' | 'id'>,
  { countedMs, isOverflowed, isEnded, coordinates }: CountingPeriod,
  uses: readonly CountedUse[],
): Promise<void> {
  const statement = sql('record-use')`select record_use($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;
  const lists = [0, 1, 2, 3].map((part) => uses.map((use) => use[part]));
  await database.query(statement, [app, id, countedMs, isOverflowed, isEnded, coordinates, ...lists]);
}

/** A build of a running worker that does not render all of some event types. */
export interface LackingWorker {
  version: string;
  /** SHA-256 of its contracts. */
  digest: string;
  /** The event types that it does not render, in order. */
  lacking: string[];
  /** Some running worker renders one of the event types, or its contracts are not known. */
  isKnown: boolean;
}

/** In the order of their versions. None while no worker has a lease. Reads a row for each process of the worker, and each of its builds. */
export async function selectLackingWorkers(
  database: Database,
  eventTypes: readonly string[],
): Promise<LackingWorker[]> {
  const statement = sql('lacking-workers')`
      select version, digest, lacking, is_known as "isKnown" from webhook_workers_lacking($1)`;
  return database.query<LackingWorker>(statement, [eventTypes]);
}
