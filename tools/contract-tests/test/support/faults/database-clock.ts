import { terminateBackends } from '@deedwire/embedded-postgres';
import { runOnce } from '@deedwire/testing';

/**
 * Sets the clock of the database back, and ends all sessions, because only new ones see it: their search path finds these
 * functions first.
 *
 * @param interval by how much, for example `10 s`
 */
export async function setClockBack(databaseUrl: string, interval: string): Promise<void> {
  await runOnce(
    databaseUrl,
    `
    do $$ begin
      create schema if not exists faults;
      grant usage on schema faults to public;
      create or replace function faults.clock_timestamp() returns timestamptz volatile language sql
        as 'select pg_catalog.clock_timestamp() - interval ''${interval}''';
      create or replace function faults.now() returns timestamptz stable language sql
        as 'select pg_catalog.now() - interval ''${interval}''';
      execute format('alter database %I set search_path = faults, public, pg_catalog', current_database());
    end $$`,
  );
  await terminateBackends(databaseUrl);
}

/** Sets the clock of the database forward to the real time again, and ends all sessions. */
export async function resetClock(databaseUrl: string): Promise<void> {
  await runOnce(
    databaseUrl,
    `
    do $$ begin
      execute format('alter database %I reset search_path', current_database());
    end $$`,
  );
  await terminateBackends(databaseUrl);
}
