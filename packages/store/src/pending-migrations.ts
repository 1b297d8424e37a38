import { MigrationChangedError, MigrationMissingError } from './errors.ts';

/** A migration as `schema_migration` records it. */
export interface AppliedMigration {
  /** The file name without its extension, for example `0001-accounts-and-credentials`. Migrations apply in the order of names. */
  name: string;
  /** SHA-256 of the file, in hexadecimal. */
  checksum: string;
}

/**
 * The migrations of a build that a database lacks, in order. The applied ones must be the first migrations of the build,
 * without a gap. After all of them there may be migrations of a later build.
 *
 * @throws {MigrationChangedError} if an applied migration differs from the build's, or is unknown to it and not a later one
 * @throws {MigrationMissingError} if a migration is missing before an applied one
 */
export function findPendingMigrations<Migration extends AppliedMigration>(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  const own = new Map(migrations.map((migration) => [migration.name, migration]));
  const lastOwn = migrations.at(-1)?.name ?? '';
  const changed = applied
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .find(({ name, checksum }) => (own.has(name) ? own.get(name)?.checksum !== checksum : name < lastOwn));
  if (changed !== undefined) throw new MigrationChangedError(changed.name);

  const appliedNames = new Set(applied.map(({ name }) => name));
  const pending = migrations.filter(({ name }) => !appliedNames.has(name));
  const [firstPending] = pending;
  const later = [...appliedNames].filter((name) => firstPending !== undefined && name > firstPending.name);
  if (later.length > 0) {
    const firstLater = later.reduce((a, b) => (a < b ? a : b));
    const missing = pending.filter(({ name }) => name < firstLater || !own.has(firstLater)).map(({ name }) => name);
    throw new MigrationMissingError(missing, firstLater);
  }
  return pending;
}
