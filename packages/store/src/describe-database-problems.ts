import { MigrationChangedError, MigrationMissingError, StoreUnavailableError } from './errors.ts';
import { pendingMigrations } from './migrate.ts';
import type { Store } from './store.ts';

/** The problems that keep an app from working with this database, one sentence each. Empty if there is none. */
export async function describeDatabaseProblems(store: Store): Promise<string[]> {
  try {
    const pending = await pendingMigrations(store);
    return pending.length === 0 ? [] : [`the database lacks migrations: ${pending.join(', ')}`];
  } catch (error) {
    if (error instanceof StoreUnavailableError) return [`the database is not available: ${error.reason}`];
    if (error instanceof MigrationChangedError || error instanceof MigrationMissingError) return [error.message];
    throw error;
  }
}
