import { firstRow, onlyRow } from './database.ts';
import { MigrationChangedError, MigrationMissingError, StoreUnavailableError } from './errors.ts';
import { compareMigrations } from './migrate.ts';
import { type GroupRole, missingRights } from './rights.ts';
import type { Store } from './store.ts';

interface Login {
  /** As SQL takes it. */
  name: string;
  isMember: boolean;
  /** Has all rights: a superuser, or the login that applied the migrations. */
  isOwner: boolean;
  mayReadMigrations: boolean;
}

/**
 * As `findDatabaseProblems`. An unavailable database and wrong migrations are problems, too.
 */
export async function describeDatabaseProblems(store: Store, role: GroupRole): Promise<string[]> {
  try {
    return await findDatabaseProblems(store, role);
  } catch (error) {
    if (error instanceof StoreUnavailableError) return [`the database is not available: ${error.reason}`];
    if (error instanceof MigrationChangedError || error instanceof MigrationMissingError) return [error.message];
    throw error;
  }
}

/**
 * The problems that keep an app from working with this database, one sentence each, without the period. Empty if there is none.
 *
 * @param role of the app
 * @throws {MigrationChangedError} as `migrate` does
 * @throws {MigrationMissingError} as `migrate` does
 * @throws {StoreUnavailableError} when the database is unavailable
 */
export async function findDatabaseProblems(store: Store, role: GroupRole): Promise<string[]> {
  const { name, isMember, isOwner, mayReadMigrations } = await findLogin(store, role);
  if (!isOwner && !isMember)
    return [`the login ${name} is not in the group role ${role} of this app; run: grant ${role} to ${name}`];
  if (!mayReadMigrations) return describeMissing(role, ['select on schema_migration']);
  const { pending, later } = await compareMigrations(store);
  if (pending.length > 0)
    return [`the database lacks migrations: ${pending.join(', ')}; run: deedwire-operator database migrate`];
  // A later migration may have revoked what this build uses no longer.
  return isOwner || later.length > 0 ? [] : describeMissing(role, await missingRights(store, role));
}

/** Before the first migration, there is nothing that the login may not do. */
async function findLogin(store: Store, role: GroupRole): Promise<Login> {
  const statement = {
    name: 'find-login',
    text: `
      select quote_ident(current_user) as name,
        coalesce(pg_has_role(to_regrole($1), 'usage'), true) as "isMember",
        coalesce(pg_has_role(migrations.owner, 'usage'), false) as "isOwner",
        coalesce(has_table_privilege(migrations.oid, 'select'), true) as "mayReadMigrations"
      from (values (1)) as one_row
      left join (
        select oid, relowner as owner from pg_class where oid = to_regclass('schema_migration')
      ) migrations on true`,
  };
  return onlyRow(await store.query<Login & Record<string, unknown>>(statement, [role]));
}

function describeMissing(role: GroupRole, missing: readonly string[]): string[] {
  const first = firstRow(missing);
  if (first === null) return [];
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} other rights`;
  return [`the group role ${role} lacks the right "${first}"${others}; run: grant ${first} to ${role}`];
}
