import { commandNames, type Service } from '@deedwire/core';
import {
  isLostStatement,
  MigrationChangedError,
  MigrationMissingError,
  StoreUnavailableError,
} from '../kernel/errors.ts';
import { findAbsentRoles } from '../migrations/absent-roles.ts';
import { compareApplicationMigrations, compareMigrations } from '../migrations/compare-migrations.ts';
import { findSettingProblems, ownLogin } from '../migrations/database-settings.ts';
import type { GroupRole } from '../migrations/group-roles.ts';
import type { AppliedMigration } from '../migrations/pending-migrations.ts';
import { type MissingRight, missingRight, missingRights, selectLoginPlace } from '../migrations/rights.ts';
import { firstRow, onlyRow, sql } from '../statements/database.ts';
import type { PooledStore, Store } from '../transactions/store.ts';

interface Login {
  /** As SQL takes it. */
  name: string;
  isMember: boolean;
  /** Has all rights: a superuser, or the login that applied the migrations. */
  isOwner: boolean;
  /** The table of the applied migrations exists. */
  isMigrated: boolean;
  /** The tables of applied migrations that it may not read. */
  unreadable: string[];
}

/** What keeps apps from working with a database. Empty if nothing does. */
export interface DatabaseCheck {
  /** One sentence each, without the period. */
  problems: string[];
  missingRights: MissingRight[];
}

/**
 * Checks a database as each app of a service does before it becomes ready. An unavailable database and wrong migrations are problems, too.
 *
 * @param login the group role that the login of the store needs
 * @param apps whose rights are compared. Defaults to those of the login
 */
export async function checkDatabase(
  store: Store,
  service: Service,
  login: GroupRole,
  apps: readonly GroupRole[] = [login],
): Promise<DatabaseCheck> {
  try {
    return await findProblems(store, service, login, apps);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return only(describeUnavailable(error));
    if (isLostStatement(error)) return only(lostStatements);
    if (error instanceof MigrationChangedError || error instanceof MigrationMissingError) return only(error.message);
    throw error;
  }
}

/** All of a check, one sentence each, without the period. */
export function describeDatabaseCheck({ problems, missingRights: missing }: DatabaseCheck): string[] {
  const first = firstRow(missing);
  if (first === null) return problems;
  const { role, right, sql: grant } = first;
  const count = missing.length - 1;
  const others = count === 0 ? '' : ` and ${count} other ${count === 1 ? 'right' : 'rights'}`;
  return [...problems, `the group role ${role} lacks the right "${right}"${others}; run: ${grant}`];
}

/** As `checkDatabase`, one sentence each, without the period. */
export async function describeDatabaseProblems(store: Store, service: Service, login: GroupRole): Promise<string[]> {
  return describeDatabaseCheck(await checkDatabase(store, service, login));
}

/**
 * As `describeDatabaseProblems`, for a login that does not wait.
 *
 * @throws {MigrationChangedError} as `migrate` does
 * @throws {MigrationMissingError} as `migrate` does
 * @throws {StoreUnavailableError} when the database is unavailable
 */
export async function findDatabaseProblems(store: Store, service: Service, login: GroupRole): Promise<string[]> {
  return describeDatabaseCheck(await findProblems(store, service, login, [login]));
}

/** What an app says that finds no statements where it prepared them. */
const lostStatements = 'a pooler before the database loses prepared statements; set DATABASE_PREPARED_STATEMENTS=off';

/** PgBouncer, if it does not know a parameter at the start of a session. */
const refusedSettings = /unsupported startup parameter/;

/** Of SQLSTATEs and codes of the system that last until someone acts. */
const reasons: Readonly<Record<string, string>> = {
  '28000': ', the server refuses the login of DATABASE_URL, or its connection without TLS',
  '28P01': ', the server does not accept the login of DATABASE_URL with this password',
  '3D000': ', the server has no database with the name in DATABASE_URL',
};

/** What a process that cannot reach the database says, without the period. */
export function describeUnavailable({ cause, reason }: StoreUnavailableError): string {
  return cause instanceof Error && refusedSettings.test(cause.message)
    ? `a pooler before the database refuses settings of sessions; set DATABASE_PREPARED_STATEMENTS=off`
    : `the database is not available: ${reason}${reasons[reason] ?? ''}`;
}

/** What was found of statements that were lost, one sentence each. For a service that is ready. */
export function describeLostStatements(stores: readonly PooledStore[]): string[] {
  return stores.every((store) => store.keepsStatements()) ? [] : [lostStatements];
}

/** Looks for a pooler that loses prepared statements. One sentence each. Before a service is ready. */
export async function findLostStatements(store: PooledStore): Promise<string[]> {
  try {
    await store.probeStatements();
    return describeLostStatements([store]);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return [describeUnavailable(error)];
    throw error;
  }
}

async function findProblems(
  store: Store,
  service: Service,
  login: GroupRole,
  apps: readonly GroupRole[],
): Promise<DatabaseCheck> {
  // An operator can read a database that is read-only.
  const ofSettings = await findSettingProblems(store, apps.every((app) => app === 'operator') ? 'read' : 'write');
  if (ofSettings.length > 0) return { problems: ofSettings, missingRights: [] };
  const place = await selectLoginPlace(store);
  const { schema, rolePrefix: prefix } = place;
  const role = prefix + login;
  const { name, isMember, isOwner, isMigrated, unreadable } = await findLogin(store, role);
  const absent = isMigrated ? await findAbsentRoles(store, [...new Set([login, ...apps])], prefix) : [];
  if (!isOwner && absent.includes(role))
    return only(
      `the database has no group role ${role} for this app, which needs the login of the owner then, not ${name}`,
    );
  if (!isOwner && !isMember)
    return only(
      // The login of an application must not become that of an app.
      schema === 'public'
        ? `the login ${name} is not in the group role ${role} of this app; run: grant ${role} to ${name}`
        : `the login is not in the group role ${role}; let this app have ${ownLogin()}`,
    );
  if (unreadable.length > 0)
    return { problems: [], missingRights: unreadable.map((table) => missingRight(role, `select on ${table}`, schema)) };
  const { pending, later, outdating } = await compareMigrations(isMigrated ? await selectAppliedMigrations(store) : []);
  if (pending.length > 0)
    return only(`the database lacks migrations: ${pending.join(', ')}; run: ${commandNames().migrate}`);
  if (outdating !== null)
    return only(`this build is too old for the database, to which ${outdating} was applied; deploy a later release`);
  // A later migration may have revoked what this build uses no longer.
  const compared =
    later.length > 0 ? [] : apps.filter((app) => !absent.includes(prefix + app) && (app !== login || !isOwner));
  const ofApplication = (await areApplied(store, service.migrations)) ? service.migrations : null;
  return { problems: [], missingRights: await missingRights(store, place, compared, ofApplication) };
}

/** Whether the rights of the application are those of this release. Another check names the migrations that its database lacks. */
async function areApplied(store: Store, folder: Service['migrations']): Promise<boolean> {
  if (folder === null) return false;
  const { pending, later } = await compareApplicationMigrations(store, folder);
  return pending.length === 0 && later.length === 0;
}

const only = (problem: string): DatabaseCheck => ({ problems: [problem], missingRights: [] });

/** Before the first migration, there is nothing that the login may not do. */
async function findLogin(store: Store, role: string): Promise<Login> {
  const statement = sql('find-login')`
      select quote_ident(current_user) as name,
        coalesce(pg_has_role(to_regrole($1), 'usage'), true) as "isMember",
        coalesce(pg_has_role(migrations.owner, 'usage'), false) as "isOwner",
        migrations.oid is not null as "isMigrated",
        array(
          select relname::text
          from pg_class
          where relnamespace = migrations.schema and relname in ('schema_migration', 'app_migration')
            and not has_table_privilege(oid, 'select')
          order by relname desc
        ) as unreadable
      from (values (1)) as one_row
      left join (
        select oid, relowner as owner, relnamespace as schema from pg_class where oid = to_regclass('schema_migration')
      ) migrations on true`;
  return onlyRow(await store.query<Login & Record<string, unknown>>(statement, [role]));
}

async function selectAppliedMigrations(store: Store): Promise<AppliedMigration[]> {
  const statement = sql('applied-migrations')`select name, checksum from schema_migration order by name`;
  return store.query<AppliedMigration & Record<string, unknown>>(statement, []);
}
