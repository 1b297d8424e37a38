import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '../../src/index.ts';

/** A new database with every migration applied. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
}
