import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { startSystem, type System, type SystemOptions } from '../start-system.ts';
import type { InterfaceUrls } from './test-accounts.ts';

export type TestAppOptions = Pick<SystemOptions, 'env' | 'appEnv' | 'onLine' | 'ports' | 'workspace'>;

/** Starts the three apps as processes. Each has its own login of the database. */
export async function startTestApps(
  database: TestDatabase,
  options: TestAppOptions,
): Promise<{ system: System; urls: InterfaceUrls }> {
  const system = await startSystem({
    ...options,
    // On a busy machine any statement can be slow.
    env: { DATABASE_TIMEOUT_MS: '20000', ...options.env },
    databaseUrls: {
      'lender-api': await database.urlFor('lender_api'),
      'partner-api': await database.urlFor('partner_api'),
      'webhook-worker': await database.urlFor('webhook_worker'),
    },
    webhookSecretKeys: `test:${randomBytes(32).toString('base64')}`,
  });
  const urls = {
    lender: `${system.apps['lender-api'].url}/lenders/graphql`,
    partner: `${system.apps['partner-api'].url}/partners/graphql`,
  };
  return { system, urls };
}
