import type { Client } from 'pg';

/** Why a migration waits. */
export interface MigrationWait {
  /** Null if the migration is not known yet: another process migrates, or holds the list of migrations. */
  migration: string | null;
  /** The transactions of other sessions that hold locks on tables of this schema, oldest first, at most 5. */
  holders: readonly LockHolder[];
}

export interface LockHolder {
  pid: number;
  login: string;
  applicationName: string;
  /** The age of its transaction in whole seconds. Null if the login of the migration may not see it. */
  seconds: number | null;
}

/** One sentence without a period, for an operator. */
export function describeWait({ migration, holders }: MigrationWait): string {
  const waiting = migration === null ? 'The list of migrations' : `Migration ${migration}`;
  if (holders.length === 0) return `${waiting} waits for a lock`;
  const sessions = holders.map(({ pid, login, applicationName, seconds }) => {
    const name = applicationName === '' ? login : `${applicationName}, ${login}`;
    return `${pid} (${name}${seconds === null ? '' : `, for ${seconds} s`})`;
  });
  return `${waiting} waits for a lock. Sessions with locks: ${sessions.join(', ')}`;
}

/**
 * The sessions that hold locks on tables of this schema, oldest first, at most 5.
 *
 * @param waiting the session that waits. Null if it has given up, so that any of them can be the reason.
 */
export async function selectLockHolders(client: Client, waiting: number | null): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select a.pid, coalesce(a.usename, '') as login, a.application_name as "applicationName",
       floor(extract(epoch from clock_timestamp() - a.xact_start))::int as seconds
     from pg_stat_activity a
     where case
       when $1::int is not null then a.pid = any (pg_blocking_pids($1::int))
       else a.pid <> pg_backend_pid() and exists (
         select from pg_locks l
         join pg_class c on c.oid = l.relation
         where l.pid = a.pid and l.granted and c.relnamespace = current_schema()::regnamespace
           and l.database = (select oid from pg_database where datname = current_database())
       )
     end
     order by a.xact_start
     limit 5`,
    [waiting],
  );
  return rows;
}
