import { createLogin } from '@deedwire/embedded-postgres';
import type { AppDatabaseUrls } from './start-system.ts';

/** A login for each app, in its group role: it can do what the app does and nothing else. */
export async function createAppLogins(databaseUrl: string): Promise<AppDatabaseUrls> {
  // Logins belong to the server: its other databases have theirs.
  const database = new URL(databaseUrl).pathname.slice(1);
  return {
    'lender-api': await createLogin(databaseUrl, `${database}_lender_api`, 'lender_api'),
    'partner-api': await createLogin(databaseUrl, `${database}_partner_api`, 'partner_api'),
    'webhook-worker': await createLogin(databaseUrl, `${database}_webhook_worker`, 'webhook_worker'),
  };
}
