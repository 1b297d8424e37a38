import { createLogin } from '@deedwire/test-postgres';
import type { AppDatabaseUrls } from './start-system.ts';

/** A login for each app, in its group role: it can do what the app does and nothing else. */
export async function createAppLogins(databaseUrl: string): Promise<AppDatabaseUrls> {
  return {
    'lender-api': await createLogin(databaseUrl, 'deedwire_lender_api', 'lender_api'),
    'partner-api': await createLogin(databaseUrl, 'deedwire_partner_api', 'partner_api'),
    'webhook-worker': await createLogin(databaseUrl, 'deedwire_webhook_worker', 'webhook_worker'),
  };
}
