import { randomBytes } from 'node:crypto';
import { startSystem, type System, type SystemOptions } from '@deedwire/dev-environment';
import type { PostgresServer } from '@deedwire/embedded-postgres';
import { createClient, type Client } from './client.ts';
import { prepareDatabase, type PreparedDatabase } from './database.ts';

/** The three apps as processes, on a database of their own, with two organizations in it. */
export interface TestSystem extends Omit<PreparedDatabase, 'urlFor'> {
  system: System;
  urls: { lender: string; partner: string };
  /** One client for each account. */
  lender: Client;
  partner: Client;
  otherLender: Client;
  otherPartner: Client;
}

export async function startTestSystem(
  options: Pick<SystemOptions, 'env' | 'appEnv' | 'onLine'> & { server?: PostgresServer } = {},
): Promise<TestSystem> {
  const { server, ...systemOptions } = options;
  const database = await prepareDatabase(server);
  const { accounts } = database;
  const system = await startSystem({
    ...systemOptions,
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
  return {
    ...database,
    system,
    urls,
    lender: createClient(urls.lender, accounts.lender.credential),
    partner: createClient(urls.partner, accounts.partner.credential),
    otherLender: createClient(urls.lender, accounts.otherLender.credential),
    otherPartner: createClient(urls.partner, accounts.otherPartner.credential),
    async close() {
      await system.stop();
      await database.close();
    },
  };
}
