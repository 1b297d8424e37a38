import {
  createLogin,
  createTestDatabase,
  type DatabaseRole,
  type PostgresServer,
  type TestDatabase,
} from '@deedwire/embedded-postgres';
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
  // Each call of createLogin sets another password.
  const logins = new Map<DatabaseRole, Promise<string>>();
  return {
    databaseUrl: server.url,
    urlFor(role) {
      const login = logins.get(role) ?? createLogin(server.url, `${role}_login`, role);
      logins.set(role, login);
      return login;
    },
    drop: () => server.stop(),
  };
}
