import { startPostgres } from '@deedwire/embedded-postgres';
import { createAppLogins } from './app-logins.ts';
import type { DevConfig } from './dev-config.ts';
import type { Home } from './home.ts';
import type { AppDatabaseUrls } from './start-system.ts';

export interface DevDatabase {
  /** As the owner of everything in it. */
  url: string;
  /** The same past a transaction pooler, for migrations and notifications. */
  directUrl: string;
  /** Once it is migrated. */
  appUrls(): Promise<AppDatabaseUrls>;
  /** Resolves, with the reason, when a server of our own has ended by itself. */
  ended: Promise<string | null>;
  close(): Promise<void>;
}

/** The database that DATABASE_URL names, or one on an embedded server whose data is in the home. */
export async function openDevDatabase(config: DevConfig, home: Home): Promise<DevDatabase> {
  const givenUrl = config.DATABASE_URL;
  if (givenUrl !== undefined) {
    return {
      url: givenUrl,
      directUrl: config.DATABASE_DIRECT_URL ?? givenUrl,
      // Making logins on somebody else's server is not ours to do.
      appUrls: async () => ({ 'lender-api': givenUrl, 'partner-api': givenUrl, 'webhook-worker': givenUrl }),
      ended: new Promise(() => {}),
      close: async () => {},
    };
  }
  await home.saveState();
  const data = { directory: home.postgresDirectory, password: home.state.postgresPassword };
  const server = await startPostgres({ data });
  return {
    url: server.url,
    directUrl: server.url,
    appUrls: () => createAppLogins(server.url),
    ended: server.ended,
    close: () => server.stop(),
  };
}
