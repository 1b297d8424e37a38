import { MigrationChangedError, MigrationMissingError } from '../kernel/errors.ts';

/** Whose migrations: `schema_migration` records those of the platform, and `app_migration` those of the application. */
export type MigrationsOf = 'application' | 'platform';

/** A migration as the database records it. */
export interface AppliedMigration {
  /** The file name without its extension, for example `0001-accounts-and-credentials`. Migrations apply in the order of names. */
  name: string;
  /** SHA-256 of the file, in hexadecimal. */
  checksum: string;
}

/** A migration of a build. */
export interface KnownMigration extends AppliedMigration {
  /**
   * A new database begins with it, in place of all migrations before it. A database that has some of these continues with the others, and
   * never applies it.
   */
  isBaseline?: boolean;
}

/** How the name of a migration ends that some builds do not work after: `-needs-` and the number of a migration. */
const neededNumber = /-needs-(\d{4})$/;

/** SHA-256 of another form of a migration, which was on the main branch between two releases. A later migration makes both alike. */
const otherForms: ReadonlyMap<string, string> = new Map([
  ['0050-events-that-wait', 'd1340954b2ea3790a1e81d2e82ccbc37072a24395db583d95129181d70c6cc15'],
]);

/**
 * The number of the last migration that a build must have to work after a migration, for example `0027` for
 * `0031-drop-shards-needs-0027`. Null if every build may.
 */
export function neededMigration(name: string): string | null {
  return neededNumber.exec(name)?.[1] ?? null;
}

/**
 * The number of the last migration that a build must have to work with a database with these names of migrations. Null if every build does. A build
 * without the baseline refuses a database that began with it.
 */
export function findNeededMigration(migrations: readonly KnownMigration[], applied: readonly string[]): string | null {
  const baselines = migrations.flatMap(({ name, isBaseline }) => (isBaseline ? name : []));
  const needed = applied.flatMap((name) => neededMigration(name) ?? (baselines.includes(name) ? name.slice(0, 4) : []));
  return needed.toSorted().at(-1) ?? null;
}

/** The first applied migration after which a build no longer works. Null if there is none. */
export function findOutdatingMigration(
  migrations: readonly AppliedMigration[],
  applied: readonly AppliedMigration[],
): string | null {
  const own = new Set(migrations.map(({ name }) => name));
  const lastOwn = migrations.at(-1)?.name ?? '';
  const outdating = applied
    .map(({ name }) => name)
    .filter((name) => !own.has(name) && lastOwn.slice(0, 4) < (neededMigration(name) ?? ''));
  return outdating.toSorted()[0] ?? null;
}

/**
 * The migrations of a build that a database lacks, in order. The applied ones must be the first migrations of the build,
 * without a gap, or those from a baseline on. After all of them there may be migrations of a later build.
 *
 * @param of whose migrations they are
 *
 * @throws {MigrationChangedError} if an applied migration differs from the build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if a migration is missing before an applied one
 */
export function findPendingMigrations<Migration extends KnownMigration>(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  of: MigrationsOf = 'platform',
): Migration[] {
  const inOrder = applied.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const needed = selectNeeded(migrations, inOrder[0]?.name);
  const own = new Map(needed.map((migration) => [migration.name, migration]));
  const lastOwn = migrations.at(-1)?.name ?? '';
  const changed = inOrder.find(({ name, checksum }) =>
    own.has(name) ? ![own.get(name)?.checksum, otherForms.get(name)].includes(checksum) : name <= lastOwn,
  );
  if (changed !== undefined) throw new MigrationChangedError(changed.name, of);

  const appliedNames = new Set(inOrder.map(({ name }) => name));
  const pending = needed.filter(({ name }) => !appliedNames.has(name));
  const [firstPending] = pending;
  const firstLater = inOrder.find(({ name }) => firstPending !== undefined && name > firstPending.name)?.name;
  if (firstLater !== undefined) {
    const missing = pending.filter(({ name }) => name < firstLater || !own.has(firstLater)).map(({ name }) => name);
    throw new MigrationMissingError(missing.length === needed.length ? 'all' : missing, firstLater, of);
  }
  return pending;
}

/**
 * The migrations of a build for a database with this first one: a baseline and those after it, or all but baselines. A new
 * database begins with the last baseline.
 */
function selectNeeded<Migration extends KnownMigration>(
  migrations: readonly Migration[],
  first: string | undefined,
): Migration[] {
  const baseline = migrations.findLast(({ name, isBaseline }) => isBaseline && (first === undefined || first === name));
  return migrations.filter((migration) =>
    migration.isBaseline ? migration === baseline : migration.name > (baseline?.name ?? ''),
  );
}
