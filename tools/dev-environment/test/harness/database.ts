import {
  createLogin,
  createTestDatabase,
  type PostgresServer,
  type TestDatabase,
  withClient,
} from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import type { ProvidedContext } from 'vitest';

const migrated = { template: 'served', prepare: prepareForApps };

/** Migrates. Creates the partitions too, which the first worker of each database would otherwise take most of a second for. */
async function prepareForApps(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl);
  await withClient(databaseUrl, (client) => client.query('call webhook_create_partitions(60)'));
}

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
  server?: Pick<PostgresServer, 'url' | 'stop'>,
  apply: (databaseUrl: string) => Promise<unknown> = migrate,
): Promise<TestDatabase> {
  if (server === undefined) return createTestDatabase(migrated);
  await apply(server.url);
  // Calling createLogin again would change the password, which would invalidate the URL already returned.
  const logins = new Map<string, Promise<string>>();
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
