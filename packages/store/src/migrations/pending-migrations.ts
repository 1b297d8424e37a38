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
 * without a gap. After all of them there may be migrations of a later build.
 *
 * @param of whose migrations they are
 *
 * @throws {MigrationChangedError} if an applied migration differs from the build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if a migration is missing before an applied one
 */
export function findPendingMigrations<Migration extends AppliedMigration>(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  of: MigrationsOf = 'platform',
): Migration[] {
  const own = new Map(migrations.map((migration) => [migration.name, migration]));
  const lastOwn = migrations.at(-1)?.name ?? '';
  const changed = applied
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .find(({ name, checksum }) =>
      own.has(name) ? ![own.get(name)?.checksum, otherForms.get(name)].includes(checksum) : name < lastOwn,
    );
  if (changed !== undefined) throw new MigrationChangedError(changed.name, of);

  const appliedNames = new Set(applied.map(({ name }) => name));
  const pending = migrations.filter(({ name }) => !appliedNames.has(name));
  const [firstPending] = pending;
  const later = [...appliedNames].filter((name) => firstPending !== undefined && name > firstPending.name);
  if (later.length > 0) {
    const firstLater = later.reduce((a, b) => (a < b ? a : b));
    const missing = pending.filter(({ name }) => name < firstLater || !own.has(firstLater)).map(({ name }) => name);
    throw new MigrationMissingError(missing, firstLater, of);
  }
  return pending;
}
