import type { Harness } from '@deedwire/dev-environment/harness';
import { terminateBackends } from '@deedwire/embedded-postgres';

export interface VirtualClock {
  now(): Date;
  /** Stop the worker before: its lease would expire, and it reads the clock when it starts. */
  advanceTo(time: Date): Promise<void>;
}

/**
 * Gives a database a clock that a test sets forward. Statements find its functions first, and so do functions that have a search path
 * and the defaults of columns, which `setClockBack` leaves at the real time. Call it before an app starts.
 */
export async function startVirtualClock({ database, sql }: Pick<Harness, 'database' | 'sql'>): Promise<VirtualClock> {
  await sql(`
    do $do$
    declare
      bound record;
    begin
      create schema virtual;
      grant usage on schema virtual to public;
      create table virtual.clock (ahead interval not null);
      grant select on virtual.clock to public;
      insert into virtual.clock values ('0');
      create function virtual.clock_timestamp() returns timestamptz volatile language sql
        as 'select pg_catalog.clock_timestamp() + ahead from virtual.clock';
      create function virtual.now() returns timestamptz stable language sql
        as 'select pg_catalog.now() + ahead from virtual.clock';
      execute format('alter database %I set search_path = virtual, public, pg_catalog', current_database());
      for bound in
        select oid::regprocedure as routine, split_part(setting, '=', 2) as path
        from pg_proc, unnest(proconfig) as setting
        where pronamespace = 'public'::regnamespace and setting like 'search\\_path=%'
      loop
        execute format('alter routine %s set search_path = virtual, %s', bound.routine, bound.path);
      end loop;
      for bound in
        select adrelid::regclass as relation, attname, pg_get_expr(adbin, adrelid) as expression
        from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
        where pg_get_expr(adbin, adrelid) in ('now()', 'clock_timestamp()')
      loop
        execute format('alter table %s alter %I set default virtual.%s', bound.relation, bound.attname, bound.expression);
      end loop;
    end $do$`);
  await terminateBackends(database.databaseUrl);
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    async advanceTo(time) {
      aheadMs = Math.max(aheadMs, time.getTime() - Date.now());
      await sql(`update virtual.clock set ahead = $1 * interval '1 ms'`, [aheadMs]);
    },
  };
}
