import { randomUUID } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { type Database, onlyRow, sql } from '../statements/database.ts';

/** What tells databases apart that come from the same one. */
export interface DatabaseIdentity {
  /** The same in all copies of a database. */
  installationId: string;
  /** Names the server, the database and the timeline of its log, which a restore to a time and a failover begin. */
  lineage: string;
  /** The same in two sessions only if they are of the same running server. */
  startedAt: Date;
}

/** Not on a standby, which is on the timeline of its primary. */
export async function selectDatabaseIdentity(database: Database): Promise<DatabaseIdentity> {
  const statement = sql('database-identity')`
      select installation_id as "installationId", pg_postmaster_start_time() as "startedAt",
        concat_ws('/', system_identifier, (select oid from pg_database where datname = current_database()),
          case when pg_is_in_recovery() then 'standby' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end) as lineage
      from installation, pg_control_system()`;
  return onlyRow(await database.query<DatabaseIdentity & Record<string, unknown>>(statement, []));
}

/** A role that may log in, or was disabled. */
export interface LoginRow {
  name: string;
  canLogIn: boolean;
  /** It has the rights of an app, and is no superuser. */
  isOfApp: boolean;
}

export async function selectLogins(database: Database, groupRoles: readonly string[]): Promise<LoginRow[]> {
  const statement = sql('select-logins')`
      select r.rolname as name, r.rolcanlogin as "canLogIn", not r.rolsuper and exists (
        select from pg_roles g where g.rolname = any ($1) and g.oid <> r.oid and pg_has_role(r.oid, g.oid, 'member')
      ) as "isOfApp"
      from pg_roles r
      where r.rolname <> all ($1)
      order by r.rolname`;
  return database.query<LoginRow & Record<string, unknown>>(statement, [groupRoles]);
}

/** The statements that disable a login and end its sessions. */
export function disableLoginSql(name: string): [string, string] {
  return [
    `alter role ${escapeIdentifier(name)} nologin`,
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = ${escapeLiteral(name)}`,
  ];
}

/** Needs the right to change roles. */
export async function disableLogin(transaction: Database, name: string): Promise<void> {
  // The texts contain the login, and a statement has one text.
  for (const text of disableLoginSql(name))
    await transaction.query({ name: `disable-login-${randomUUID()}`, text }, []);
}
