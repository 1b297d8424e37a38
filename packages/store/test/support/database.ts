import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import {
  applyMigrations,
  createStore,
  migrate,
  readMigrations,
  type Store,
  type StoreOptions,
} from '../../src/index.ts';

/** A new database of the test service. */
export function createServiceDatabase(): Promise<TestDatabase> {
  return createTestDatabase({
    template: 'test_service',
    prepare: async (url) => void (await migrate(url, testService, { organization: null })),
  });
}

/** A new database without a service, and so without interfaces. */
export function createPlatformDatabase(): Promise<TestDatabase> {
  return createTestDatabase({
    template: 'platform',
    prepare: async (url) => void (await applyMigrations(url, await readMigrations(), {})),
  });
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
