import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '@deedwire/core';
import { type Client, DatabaseError, escapeIdentifier, escapeLiteral, type QueryResultRow } from 'pg';
import { searchPathOf, withSchema } from '../connections/search-path.ts';
import {
  ApplicationMigrationError,
  CellMismatchError,
  MigrationBlockedError,
  RolePrefixMismatchError,
  ServiceConflictError,
  toStoreError,
  UnsuitableDatabaseError,
} from '../kernel/errors.ts';
import type { LockHolder, MigrationWait } from '../kernel/migration-wait.ts';
import { type Database, onlyRow, type Statement } from '../statements/database.ts';
import { describeAbsentRoles, findAbsentRoles } from './absent-roles.ts';
import { buildIndex, concurrentIndexOf } from './build-index.ts';
import { findSettingProblems } from './database-settings.ts';
import { describeService } from './describe-service.ts';
import { findSchema, type Place, type PlaceOptions } from './find-place.ts';
import { findUnlisted, findUnregistered } from './find-unregistered.ts';
import { type GroupRole, groupRolesOf, selectRolePrefix } from './group-roles.ts';
import { isLockConflict } from './lock-conflict.ts';
import { openMigrationSession } from './migration-session.ts';
import { type AppliedMigration, findPendingMigrations, type MigrationsOf } from './pending-migrations.ts';
import { type Migration, readMigrations } from './read-migrations.ts';
import { refuseObjectsOfApps } from './refuse-objects-of-apps.ts';
import { type ChangedEvents, registerService } from './register-service.ts';
import { runApplicationMigration } from './run-application-migration.ts';
import { watchWaits } from './watch-waits.ts';

export interface MigrateOptions extends PlaceOptions {
  /**
   * 0 to 1023: the number of this database in the ids of its records. The first migration of a database stores it; nothing
   * changes it later. If omitted, a new database gets 0 and an existing one keeps its number.
   */
  cell?: number;
  /** The namespace of global identifiers, which the first migration with a service stores. Defaults to that of the service. */
  gidNamespace?: string;
  /** The organization that a database without one gets. Null: none. Defaults to one with the name of the service. */
  organization?: string | null;
  /** How long all migrations together wait for locks that others hold. Defaults to 10 minutes. */
  waitMs?: number;
  /** Called again and again while a migration waits for other sessions. */
  onWait?: (wait: MigrationWait) => void;
  /** Called with how the tables and sequences of the service differ from what its migrations have registered: a sentence each. */
  onUnregistered?: (problem: string) => void;
  /** Called once if the database has no roles of some apps, with what it does not limit therefore. */
  onAbsentRoles?: (consequences: string) => void;
}

const defaultCell = 0;

const defaultWaitMs = 600_000;

/**
 * While a migration waits for a lock, all that use the table wait behind it. Shorter than the lock timeout of the apps, so that
 * their statements go on, and than PostgreSQL's `deadlock_timeout`, so that a deadlock ends the migration and not an app's
 * transaction.
 */
const lockTimeoutMs = 500;

/** Between two tries, so that what has waited goes on. */
const pauseMs = 1000;

/** At least once in each try. */
const watchEveryMs = 200;

/** What `migrate` has done, in this order. */
export interface Migrated extends ChangedEvents {
  /** The names of the migrations of the platform that it applied, in order. */
  applied: string[];
  /** The interfaces that it added. */
  addedInterfaces: string[];
  /** The names of the migrations of the application that it applied, in order. Without those that were only recorded. */
  appliedOfApplication: string[];
  /** Where the tables are. */
  place: Place;
  /** The database had no tables before. */
  isNew: boolean;
}

/**
 * Applies the migrations of this build that the database lacks, then adds the interfaces of the service that it lacks, then applies the
 * migrations of the application, and registers the service. Each migration has its own transaction, or none if it builds an index
 * while the table is written. Several processes may call it at the same time: they apply each migration once. A migration that
 * waits too long for a lock is rolled back and tried again.
 *
 * @param databaseUrl a direct connection, not a transaction pooler, as a user who may create tables and roles
 * @param service the application, as its apps take it
 * @throws {CellMismatchError} if the database has another cell than `options.cell`
 * @throws {RolePrefixMismatchError} if the database has another prefix of roles than `options.rolePrefix`
 * @throws {ApplicationMigrationError} if a migration of the application fails, and those before it are applied, or if it replaces what it must not
 * @throws {GidNamespaceMismatchError} if the database has another namespace of global identifiers. The migrations are applied.
 * @throws {MigrationBlockedError} if locks were held for longer than `options.waitMs`
 * @throws {MigrationChangedError} if an applied migration differs from this build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if the database lacks a migration before one that was applied
 * @throws {ServiceConflictError} if the database knows another service by the names of this one. The migrations are applied.
 * @throws {ObjectsOfAppsError} if the login of an app owns objects, or may create some
 * @throws {StoreUnavailableError} when the database is unavailable
 * @throws {UnsuitableDatabaseError} if the encoding, a setting, the schema or the login keeps migrations from being applied
 */
export async function migrate(databaseUrl: string, service: Service, options: MigrateOptions = {}): Promise<Migrated> {
  return applyMigrations(databaseUrl, await readMigrations(), options, service);
}

/** Does what `migrate` does with other migrations, for tests. Registers nothing if `service` is null. */
export async function applyMigrations(
  databaseUrl: string,
  migrations: readonly Migration[],
  options: MigrateOptions,
  service: Service | null = null,
): Promise<Migrated> {
  const { cell, waitMs = defaultWaitMs, onWait } = options;
  let client: Client | undefined;
  try {
    const ofApplication = service?.migrations ? await readMigrations(service.migrations) : [];
    refuseReplacements(ofApplication, migrations);
    client = await openMigrationSession(databaseUrl, { lockMs: lockTimeoutMs });
    const roles = groupRolesOf(service);
    const { place, isNew } = await openPlace(client, options, { migrations, roles });
    const { schema, rolePrefix } = place;
    // The first migration of a database reads these settings.
    await client.query(`select set_config('deedwire.cell', $1, false), set_config('deedwire.role_prefix', $2, false)`, [
      String(cell ?? defaultCell),
      rolePrefix,
    ]);
    const groupRoles = roles.map((role) => rolePrefix + role);
    await refuseObjectsOfApps(client, groupRoles);
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const migrated: Migrated = {
      applied: [],
      addedInterfaces: [],
      appliedOfApplication: [],
      addedEvents: [],
      optionalMembers: [],
      place,
      isNew,
    };
    let lastWait: MigrationWait = { migration: null, holders: [] };
    const run: Run = {
      databaseUrl: withSchema(databaseUrl, schema),
      client,
      pid: onlyRow(rows).pid,
      migrations,
      service,
      place,
      groupRoles,
      ofApplication,
      gidNamespace: options.gidNamespace,
      organization: options.organization,
      cell,
      deadlineMs: performance.now() + waitMs,
      onWait(wait) {
        lastWait = wait;
        onWait?.(wait);
      },
    };
    for (let isComplete = false; !isComplete;) {
      const step = await applyNext(run);
      if (step.kind === 'complete') {
        isComplete = true;
        Object.assign(migrated, step.events);
        for (const problem of step.unregistered) options.onUnregistered?.(problem);
        if (step.absentRoles.length > 0) options.onAbsentRoles?.(describeAbsentRoles(step.absentRoles));
      } else if (step.kind === 'done') record(migrated, step.task);
      else {
        const { migration, cause } = step;
        const holders = lastWait.migration === migration ? lastWait.holders : [];
        if (performance.now() > run.deadlineMs) throw new MigrationBlockedError({ migration, holders }, cause);
        await sleep(pauseMs);
      }
    }
    return migrated;
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client?.end(); // rolls back an open transaction
  }
}

/**
 * A migration of the application can replace one of the platform that only databases of before the baseline have. Another one would never run
 * in a new database, or run in one that has its tables.
 */
function refuseReplacements(ofApplication: readonly Migration[], ofPlatform: readonly Migration[]): void {
  const baseline = ofPlatform.find(({ isBaseline }) => isBaseline);
  if (baseline === undefined) return;
  for (const { name, replacedOfPlatform: replaced } of ofApplication)
    if (replaced !== undefined && !ofPlatform.some((own) => own.name === replaced && own.name < baseline.name))
      throw new ApplicationMigrationError(
        name,
        `it replaces ${replaced} of the platform, which is no migration before ${baseline.name}. Nothing was applied.`,
      );
}

interface Run {
  databaseUrl: string;
  client: Client;
  /** Of the client's session. */
  pid: number;
  migrations: readonly Migration[];
  service: Service | null;
  place: Place;
  /** The names of the roles of the apps. */
  groupRoles: readonly string[];
  ofApplication: readonly Migration[];
  gidNamespace: string | undefined;
  organization: string | null | undefined;
  cell: number | undefined;
  deadlineMs: number;
  onWait: (wait: MigrationWait) => void;
}

/** What the database lacks. */
type Task =
  | { kind: 'migration'; of: MigrationsOf; migration: Migration }
  /** A migration of the application that one of the platform has made unnecessary. */
  | { kind: 'replaced'; of: 'application'; migration: Migration }
  /** The value of the enumeration, which another transaction can use. */
  | { kind: 'name'; name: string }
  | { kind: 'interface'; name: string; accountType: string };

type Step =
  | { kind: 'done'; task: Task }
  | { kind: 'complete'; events: ChangedEvents | null; unregistered: string[]; absentRoles: string[] }
  | { kind: 'blocked'; migration: string | null; cause: unknown };

function record({ applied, addedInterfaces, appliedOfApplication }: Migrated, task: Task): void {
  if (task.kind === 'migration') (task.of === 'platform' ? applied : appliedOfApplication).push(task.migration.name);
  else if (task.kind === 'interface') addedInterfaces.push(task.name);
}

/**
 * Does the first of what the database lacks. The transaction holds the lock of the migrations while an index is built
 * without one. It is idle meanwhile and has no snapshot, so that the build does not wait for it.
 */
async function applyNext(run: Run): Promise<Step> {
  const { databaseUrl, client, pid, service, onWait } = run;
  let next: Task | undefined;
  const migration = () => (next?.kind === 'migration' ? next.migration.name : null);
  const onBlocked = (holders: readonly LockHolder[]) => onWait({ migration: migration(), holders });
  const watched = <Result>(work: Promise<Result>): Promise<Result> =>
    watchWaits(databaseUrl, { pid, everyMs: watchEveryMs, onWait: onBlocked }, work);
  try {
    next = await watched(beginNext(run));
    if (next === undefined) {
      await grantUsage(run);
      let events: ChangedEvents | null = null;
      if (service !== null) {
        events = await registerService(client, service, run.gidNamespace ?? service.names.gidNamespace);
        const { organization = service.names.service } = run;
        if (organization !== null) await ensureOrganization(client, organization);
        await client.query('select add_application_role()');
      }
      await client.query('commit');
      return {
        kind: 'complete',
        events,
        unregistered: service === null ? [] : await compareService(client, service),
        absentRoles:
          service === null
            ? []
            : await findAbsentRoles(asDatabase(client), groupRolesOf(service), run.place.rolePrefix),
      };
    }
    const index = next.kind === 'migration' ? concurrentIndexOf(next.migration) : null;
    await (index === null
      ? watched(execute(client, next))
      : buildIndex({
          databaseUrl,
          index,
          lockMs: lockTimeoutMs,
          deadlineMs: run.deadlineMs,
          watchEveryMs,
          onWait: onBlocked,
        }));
    if (next.kind === 'migration' || next.kind === 'replaced') {
      const { name, checksum } = next.migration;
      await client.query(`insert into ${tableOf[next.of]} (name, checksum) values ($1, $2)`, [name, checksum]);
    }
    await client.query('commit');
    return { kind: 'done', task: next };
  } catch (error) {
    if (!isConflict(error, next === undefined)) throw error;
    await client.query('rollback');
    return { kind: 'blocked', migration: migration(), cause: error };
  }
}

const tableOf: Readonly<Record<MigrationsOf, string>> = { platform: 'schema_migration', application: 'app_migration' };

async function execute(client: Client, task: Task): Promise<unknown> {
  switch (task.kind) {
    case 'migration':
      if (task.of === 'application') return runApplicationMigration(client, task.migration);
      return client.query(
        task.migration.isBaseline ? await fillSchema(client, task.migration.sql) : task.migration.sql,
      );
    case 'replaced':
      return undefined;
    case 'name':
      return client.query(`alter type interface_name add value ${escapeLiteral(task.name)}`);
    case 'interface':
      return client.query('select add_interface($1, $2)', [task.name, task.accountType]);
  }
}

/**
 * Lets the roles of the apps use the schema. Without prefix, a role has logins of other databases of the cluster, so that each login of this one
 * gets the right by its name.
 */
async function grantUsage({ client, place: { schema, rolePrefix }, groupRoles }: Run): Promise<void> {
  if (rolePrefix === '') return;
  const { rows } = await client.query<{ role: string }>(
    // Those to which the migrations have granted something, and not a role of the name that belongs to another database.
    `select r.rolname as role
     from pg_roles r
     where r.rolname = any ($1) and not has_schema_privilege(r.oid, $2, 'usage')
       and exists (select from pg_class c, aclexplode(c.relacl) a where c.oid = to_regclass('schema_migration') and a.grantee = r.oid)`,
    [groupRoles, schema],
  );
  for (const { role } of rows)
    await client.query(`grant usage on schema ${escapeIdentifier(schema)} to ${escapeIdentifier(role)}`);
}

/** With one organization, an application creates accounts at once. The transaction holds the lock of the migrations. */
async function ensureOrganization(client: Client, name: string): Promise<void> {
  await client.query('insert into organization (name) select $1 where not exists (select from organization)', [name]);
}

/** The text of a baseline for the schema in which the tables will be. */
async function fillSchema(client: Client, baseline: string): Promise<string> {
  const { rows } = await client.query<{ schema: string; text: string }>(
    'select quote_ident(current_schema()) as schema, quote_literal(current_schema()) as text',
  );
  const { schema, text } = onlyRow(rows);
  return baseline.replaceAll('{schema}', schema).replaceAll('{schema_text}', text);
}

async function compareService(client: Client, service: Service): Promise<string[]> {
  const database = asDatabase(client);
  return [...(await findUnregistered(database, service)), ...(await findUnlisted(database, service))];
}

/** Begins a transaction, which sees what others commit, and returns the first of what the database lacks. */
async function beginNext({ client, migrations, service, place, ofApplication, cell }: Run): Promise<Task | undefined> {
  await client.query('begin isolation level read committed');
  await refuseOtherPlace(client, place);
  await client.query(`
    create table if not exists schema_migration (
      name text primary key,
      checksum text not null,
      applied_at timestamptz(3) not null default now()
    )`);
  // One process at a time. Apps can read the table, and have no right that this lock needs.
  await client.query('lock table schema_migration in share row exclusive mode');
  if (cell !== undefined) await checkCell(client, cell);
  await checkRolePrefix(client, place);
  const ofPlatform = await findNext(client, 'platform', migrations);
  if (ofPlatform !== undefined || service === null) return ofPlatform;
  return (await findNextInterface(client, service)) ?? findNextOfApplication(client, ofApplication);
}

async function findNext(
  client: Client,
  of: MigrationsOf,
  own: readonly Migration[],
): Promise<Extract<Task, { kind: 'migration' }> | undefined> {
  const { rows } = await client.query<AppliedMigration>(`select name, checksum from ${tableOf[of]}`);
  const [migration] = findPendingMigrations(own, rows, of);
  return migration && { kind: 'migration', of, migration };
}

async function findNextOfApplication(client: Client, own: readonly Migration[]): Promise<Task | undefined> {
  // Without parameters: a statement with some keeps its snapshot until the next one, and the build of an index would wait for it.
  const { rows: ofPlatform } = await client.query<{ name: string }>('select name from schema_migration');
  const next = await findNext(client, 'application', own);
  const isReplaced = ofPlatform.some(({ name }) => name === next?.migration.replacedOfPlatform);
  return next && isReplaced ? { kind: 'replaced', of: 'application', migration: next.migration } : next;
}

async function findNextInterface(client: Client, service: Service): Promise<Task | undefined> {
  const { rows } = await client.query<{ name: string; accountType: string; isName: boolean }>(
    `select s.name, s.account_type as "accountType", s.name = any (enum_range(null::interface_name)::text[]) as "isName"
     from rows from (jsonb_to_recordset($1::jsonb) as (name text, account_type text)) with ordinality as s (name, account_type, number)
     where not exists (select from interface i where i.name::text = s.name)
     order by s.number
     limit 1`,
    [JSON.stringify(describeService(service).interfaces)],
  );
  const [lacking] = rows;
  if (lacking === undefined) return undefined;
  const { name, accountType, isName } = lacking;
  await refuseRenamedInterface(client, name, accountType);
  return isName ? { kind: 'interface', name, accountType } : { kind: 'name', name };
}

/** Before anything of it is added: a value of the enumeration stays for good. */
async function refuseRenamedInterface(client: Client, name: string, accountType: string): Promise<void> {
  const { rows } = await client.query<{ known: string }>(
    'select name::text as known from interface where account_type = $1',
    [accountType],
  );
  const [registered] = rows;
  if (registered === undefined) return;
  const { known } = registered;
  throw new ServiceConflictError(
    [
      `the interface ${name} has accounts of the type ${accountType}, and in the database the interface ${known} has them`,
    ],
    `An interface is added, and not renamed: call it ${known}, or give ${name} another type in \`account\`.`,
  );
}

// SQLSTATE unique_violation, duplicate_schema, duplicate_table and duplicate_object (the type of the rows): another process has created
// the schema or `schema_migration` at the same time.
const creationStates = ['23505', '42P06', '42P07', '42710'];

const isCreatedByOther = (error: unknown): boolean =>
  error instanceof DatabaseError && creationStates.includes(error.code ?? '');

/** Whether a try can succeed later. */
function isConflict(error: unknown, isPreparing: boolean): boolean {
  if (isLockConflict(error)) return true;
  return isPreparing && isCreatedByOther(error);
}

/**
 * Lets the session find the tables, and creates their schema. Nothing is changed before all is suitable.
 *
 * @throws {RolePrefixMismatchError} if the database has another prefix
 * @throws {UnsuitableDatabaseError}
 */
async function openPlace(
  client: Client,
  options: PlaceOptions,
  { migrations, roles }: { migrations: readonly Migration[]; roles: readonly GroupRole[] },
): Promise<Pick<Migrated, 'place' | 'isNew'>> {
  const database = asDatabase(client);
  const { schema, exists, problems } = await findSchema(database, options);
  if (schema === null) throw new UnsuitableDatabaseError(problems);
  await client.query(`select set_config('search_path', $1, false)`, [searchPathOf(schema)]);
  // In `public`, as in databases of before.
  const ofNew = schema === 'public' ? '' : (options.defaults?.rolePrefix ?? '');
  const rolePrefix = exists ? await selectRolePrefix(database) : (options.rolePrefix ?? ofNew);
  if (options.rolePrefix !== undefined && options.rolePrefix !== rolePrefix)
    throw new RolePrefixMismatchError(rolePrefix, options.rolePrefix);
  const place = { schema, rolePrefix };
  const [first] = findPendingMigrations(migrations, []);
  const isBaseline = !exists && first?.isBaseline === true;
  const found = await findSettingProblems(database, { place, roles, isBaseline });
  if (found.length > 0) throw new UnsuitableDatabaseError(found);
  if (exists) return { place, isNew: false };
  if (first !== undefined && first.isBaseline !== true && (schema !== 'public' || rolePrefix !== ''))
    throw new UnsuitableDatabaseError([
      `${first.name} creates tables in the schema public and roles without a prefix only, not in ${schema} with "${rolePrefix}"`,
    ]);
  await createSchema(client, schema);
  return { place, isNew: true };
}

/** Of the creation of the tables. Each database has its own advisory locks. */
const creationLock = 0xdeed;

/**
 * Lets one process of a database create the tables, until its transaction ends: another one can have chosen another schema at this moment.
 *
 * @throws {UnsuitableDatabaseError} if the tables are in another schema
 */
async function refuseOtherPlace(client: Client, { schema }: Place): Promise<void> {
  const { rows: tables } = await client.query(`select where to_regclass('installation') is not null`);
  if (tables.length > 0) return;
  await client.query('select pg_advisory_xact_lock($1)', [creationLock]);
  const { problems } = await findSchema(asDatabase(client), { schema });
  if (problems.length > 0) throw new UnsuitableDatabaseError(problems);
}

/** Not `if not exists`, for which a login needs the right to create schemas, too. */
async function createSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rows.length > 0) return;
  try {
    await client.query(`create schema ${escapeIdentifier(schema)}`);
  } catch (error) {
    if (!isCreatedByOther(error)) throw error;
  }
}

function asDatabase(client: Client): Database {
  return {
    query: async <Row extends QueryResultRow>({ text }: Statement, values: readonly unknown[]) =>
      (await client.query<Row>(text, [...values])).rows,
  };
}

/**
 * Another process can have created the tables meanwhile.
 *
 * @throws {RolePrefixMismatchError} if the database has another prefix
 */
async function checkRolePrefix(client: Client, { rolePrefix }: Place): Promise<void> {
  const { rows: tables } = await client.query(`select where to_regclass('installation') is not null`);
  if (tables.length === 0) return;
  const own = await selectRolePrefix(asDatabase(client));
  if (own !== rolePrefix) throw new RolePrefixMismatchError(own, rolePrefix);
}

/** @throws {CellMismatchError} if the database has a cell, and it is not this one */
async function checkCell(client: Client, cell: number): Promise<void> {
  const { rows: tables } = await client.query(`select where to_regclass('installation') is not null`);
  if (tables.length === 0) return;
  const { rows } = await client.query<{ cell: number }>('select cell from installation');
  const [own] = rows;
  if (own !== undefined && own.cell !== cell) throw new CellMismatchError(own.cell, cell);
}
