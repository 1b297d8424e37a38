import { commandNames, type Service } from '@deedwire/core';
import { MigrationChangedError, MigrationMissingError } from '../kernel/errors.ts';
import { type Database, sql } from '../statements/database.ts';
import {
  type AppliedMigration,
  findOutdatingMigration,
  findPendingMigrations,
  type MigrationsOf,
} from './pending-migrations.ts';
import { type Migration, readMigrations } from './read-migrations.ts';

/** Names of migrations, in order. */
export interface ComparedMigrations {
  /** Those of this build that the database lacks. */
  pending: string[];
  /** Those of a later build that were applied. */
  later: string[];
  /** The first one after which this build no longer works. Null if there is none. */
  outdating: string | null;
}

/**
 * Compares the migrations of a database with those of this build.
 *
 * @throws {MigrationChangedError} as `migrate` does
 * @throws {MigrationMissingError} as `migrate` does
 */
export async function compareMigrations(applied: readonly AppliedMigration[]): Promise<ComparedMigrations> {
  return compare(await readMigrations(), applied, 'platform');
}

function compare(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  of: MigrationsOf,
): ComparedMigrations {
  const lastOwn = migrations.at(-1)?.name ?? '';
  return {
    pending: findPendingMigrations(migrations, applied, of).map(({ name }) => name),
    later: applied.map(({ name }) => name).filter((name) => name > lastOwn),
    outdating: findOutdatingMigration(migrations, applied),
  };
}

/**
 * Compares the migrations of an application with those that a database has, of which the platform's are applied.
 *
 * @throws {MigrationChangedError} as `migrate` does
 * @throws {MigrationMissingError} as `migrate` does
 */
export async function compareApplicationMigrations(
  database: Database,
  folder: NonNullable<Service['migrations']>,
): Promise<ComparedMigrations> {
  const statement = sql('application-migrations')`select name, checksum from app_migration order by name`;
  const applied = await database.query<AppliedMigration & Record<string, unknown>>(statement, []);
  return compare(await readMigrations(folder), applied, 'application');
}

/** What keeps an application from working with what was applied of its migrations, one sentence each, without the period. */
export async function findApplicationProblems(database: Database, { migrations }: Service): Promise<string[]> {
  if (migrations === null) return [];
  try {
    const { pending, outdating } = await compareApplicationMigrations(database, migrations);
    if (pending.length > 0)
      return [
        `the database lacks migrations of the application: ${pending.join(', ')}; run: ${commandNames().migrate}`,
      ];
    return outdating === null
      ? []
      : [
          `this application is too old for the database, to which ${outdating} was applied; deploy a later release of it`,
        ];
  } catch (error) {
    if (error instanceof MigrationChangedError || error instanceof MigrationMissingError)
      return [error.message.replace(/\.$/, '')];
    throw error;
  }
}
