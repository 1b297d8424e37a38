import {
  createLogin,
  createTestDatabase,
  type DatabaseRole,
  type PostgresServer,
  type TestDatabase,
} from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import type { ProvidedContext } from 'vitest';

const migrated = { template: 'migrated', prepare: async (url: string) => void (await migrate(url)) };

/** As `createMigratedDatabase`, for a global setup, which names the server of the test run. */
export const createMigratedDatabaseOn = (server: ProvidedContext['postgres']): Promise<TestDatabase> =>
  createTestDatabase({ ...migrated, server });

/**
 * Creates a database with all migrations applied.
 *
 * @param server replaces the server of the test run. Only this database may use it, because `drop` stops it.
 * @param apply replaces the migrations of this build. Needs `server`.
 */
export async function createMigratedDatabase(
  server?: PostgresServer,
  apply: (databaseUrl: string) => Promise<unknown> = migrate,
): Promise<TestDatabase> {
  if (server === undefined) return createTestDatabase(migrated);
  await apply(server.url);
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
