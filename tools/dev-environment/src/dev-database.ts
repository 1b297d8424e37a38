import { startPostgres } from '@deedwire/embedded-postgres';
import { createAppLogins } from './app-logins.ts';
import type { DevConfig } from './dev-config.ts';
import type { Home } from './home.ts';
import type { AppDatabaseUrls } from './start-system.ts';

export interface DevDatabase {
  /** URL with the login of the database owner. */
  url: string;
  /** The same without a transaction pooler, for migrations and notifications. */
  directUrl: string;
  /** A sentence that tells the developer how to continue with an empty database. */
  howToReset: string;
  /** Requires a migrated database. */
  appUrls(): Promise<AppDatabaseUrls>;
  /** Resolves, with the reason, if the embedded server ends unexpectedly. */
  ended: Promise<string | null>;
  close(): Promise<void>;
}

/** Opens the database of DATABASE_URL, otherwise starts an embedded server whose data is in the home. */
export async function openDevDatabase(config: DevConfig, home: Home): Promise<DevDatabase> {
  const givenUrl = config.DATABASE_URL;
  if (givenUrl !== undefined) {
    return {
      url: givenUrl,
      directUrl: config.DATABASE_DIRECT_URL ?? givenUrl,
      howToReset: 'Set DATABASE_URL to an empty database.',
      // `pnpm dev` creates no logins on a server that it does not own.
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
    howToReset: `Delete its data, and start \`pnpm dev\` again: rm -r '${home.directory}'`,
    appUrls: () => createAppLogins(server.url),
    ended: server.ended,
    close: () => server.stop(),
  };
}
