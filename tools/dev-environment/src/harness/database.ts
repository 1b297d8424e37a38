import {
  createLogin,
  createTestDatabase,
  type DatabaseRole,
  type PostgresServer,
  type TestDatabase,
} from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';

/**
 * Creates a database with all migrations applied.
 *
 * @param server replaces the server of the test run. Only this database may use it, because `drop` stops it.
 */
export async function createMigratedDatabase(server?: PostgresServer): Promise<TestDatabase> {
  if (server === undefined) {
    return createTestDatabase({ template: 'migrated', prepare: async (url) => void (await migrate(url)) });
  }
  await migrate(server.url);
  // Calling createLogin again would change the password, which would invalidate the URL already returned.
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
