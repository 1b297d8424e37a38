import { StoreUnavailableError } from './errors.ts';
import { pendingMigrations } from './migrate.ts';
import type { Store } from './store.ts';

/** What keeps an app from working on this database, a sentence each; empty when nothing does. */
export async function describeDatabaseProblems(store: Store): Promise<string[]> {
  try {
    const missing = await pendingMigrations(store);
    return missing.length === 0 ? [] : [`the database lacks migrations: ${missing.join(', ')}`];
  } catch (error) {
    if (error instanceof StoreUnavailableError) return [`the database is not available: ${error.reason}`];
    throw error;
  }
}
