import { createLogin } from '@deedwire/embedded-postgres';
import type { AppDatabaseUrls } from './start-system.ts';

/** Creates a login for each app in the app's group role, so that each app has only the rights it needs. */
export async function createAppLogins(databaseUrl: string): Promise<AppDatabaseUrls> {
  // Logins belong to the server, not to a database: the name of the database keeps them apart.
  const database = new URL(databaseUrl).pathname.slice(1);
  return {
    'lender-api': await createLogin(databaseUrl, `${database}_lender_api`, 'lender_api'),
    'partner-api': await createLogin(databaseUrl, `${database}_partner_api`, 'partner_api'),
    'webhook-worker': await createLogin(databaseUrl, `${database}_webhook_worker`, 'webhook_worker'),
  };
}
