import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { createStore, migrate, type Store, type StoreOptions } from '../../src/index.ts';

/** A new database with every migration applied. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
}

/** Closes the connections of the store when the work is done. */
export async function withStore<Result>(
  databaseUrl: string,
  work: (store: Store) => Promise<Result>,
  options: Partial<StoreOptions> = {},
): Promise<Result> {
  const store = createStore({ databaseUrl, applicationName: 'test', ...options });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
