import { testFirm } from '@deedwire/core/test-firm';
import { testService, testServiceStatements } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import {
  applyMigrations,
  createStore,
  migrate,
  readMigrations,
  type Store,
  type StoreOptions,
} from '../../src/index.ts';

/** A new database with every migration applied. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url, testFirm)) });
}

/** Applies every migration, and creates the interfaces and the table of the test service. */
export async function migrateTestService(databaseUrl: string): Promise<void> {
  // An event is registered with the interfaces that exist, and with no other later.
  await applyMigrations(databaseUrl, await readMigrations(), {});
  await withClient(databaseUrl, async (client) => {
    for (const statement of testServiceStatements) await client.query(statement);
  });
  await migrate(databaseUrl, testService);
}

/** A new database of the test service. */
export function createServiceDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'test_service', prepare: migrateTestService });
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
