import { createLogin, createTestDatabase, type PostgresServer, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';

/**
 * A database with every migration applied.
 *
 * @param server to use instead of the run's server. It holds no other database, and `drop` stops it.
 */
export async function createMigratedDatabase(server?: PostgresServer): Promise<TestDatabase> {
  if (server === undefined) {
    return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
  }
  await migrate(server.url);
  return {
    databaseUrl: server.url,
    urlFor: (role) => createLogin(server.url, `${role}_login`, role),
    drop: () => server.stop(),
  };
}
