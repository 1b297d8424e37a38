import { createLogin, createTestDatabase, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import { migrate, withSchema } from '@deedwire/store';
import type { ProvidedContext } from 'vitest';
import type { TestedApplication } from './tested-service.ts';

/** A server that only one database uses. */
export interface OwnServer {
  url: string;
  /** The URL of the owner of a database without roles, which every app uses. If omitted, each app has a login. */
  ownerUrl?: string;
  /** Where its tables are. Defaults to the schema `public`, and to roles without prefix. */
  place?: { schema: string; rolePrefix: string };
  stop(): Promise<unknown>;
}

type Migrated = Pick<TestedApplication, 'key' | 'service'>;

/** Creates the partitions too, which the first worker of each database would otherwise take most of a second for. */
const templateOf = ({ key, service }: Migrated) => ({
  template: `served_${key}`,
  async prepare(databaseUrl: string): Promise<void> {
    await migrate(databaseUrl, service, { organization: null });
    await withClient(databaseUrl, (client) => client.query('call webhook_create_partitions(60)'));
  },
});

/** As `createMigratedDatabase`, for a global setup, which names the server of the test run. */
export const createMigratedDatabaseOn = (
  server: ProvidedContext['postgres'],
  tested: Migrated,
): Promise<TestDatabase> => createTestDatabase({ ...templateOf(tested), server });

/**
 * Creates a database with all migrations applied.
 *
 * @param server replaces the server of the test run. Only this database may use it, because `drop` stops it.
 * @param apply replaces the migrations of this build. Needs `server`.
 */
export async function createMigratedDatabase(
  tested: Migrated,
  server?: OwnServer,
  apply: (databaseUrl: string) => Promise<unknown> = (url) =>
    migrate(url, tested.service, { ...server?.place, organization: null }),
): Promise<TestDatabase> {
  if (server === undefined) return createTestDatabase(templateOf(tested));
  await apply(server.url);
  const { url: serverUrl, ownerUrl, place } = server;
  // A pooler may be before the others, and refuses the setting.
  const inPlace = (url: string) => (place === undefined ? url : withSchema(url, place.schema));
  // Calling createLogin again would change the password, which would invalidate the URL already returned.
  const logins = new Map<string, Promise<string>>();
  return {
    databaseUrl: inPlace(serverUrl),
    async urlFor(role) {
      if (ownerUrl !== undefined) return inPlace(ownerUrl);
      const groupRole = `${place?.rolePrefix ?? ''}${role}`;
      const login = logins.get(role) ?? createLogin(serverUrl, `${role}_login`, groupRole).then(inPlace);
      logins.set(role, login);
      return login;
    },
    drop: async () => void (await server.stop()),
  };
}
