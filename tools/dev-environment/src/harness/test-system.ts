import { randomBytes } from 'node:crypto';
import type { PostgresServer } from '@deedwire/embedded-postgres';
import { createClient, type Client } from '@deedwire/testing';
import { ensureOpenReferrals } from '../seed.ts';
import { startSystem, type System, type SystemOptions } from '../start-system.ts';
import { createHarness, type Harness } from './harness.ts';

/** The three apps as processes, with a separate database. */
export interface TestSystem extends Pick<
  Harness,
  'accounts' | 'database' | 'operator' | 'sql' | 'forgetHandshakes' | 'close'
> {
  system: System;
  urls: { lender: string; partner: string };
  /** Ids of at least 20 open referrals of `accounts.partner`, oldest first. */
  referrals: string[];
  /** One client per account. */
  lender: Client;
  partner: Client;
  otherLender: Client;
  otherPartner: Client;
}

/** @param options `server`: as for `createMigratedDatabase` */
export async function startTestSystem(
  options: Pick<SystemOptions, 'env' | 'appEnv' | 'onLine' | 'ports'> & { server?: PostgresServer } = {},
): Promise<TestSystem> {
  const { server, ...systemOptions } = options;
  const harness = await createHarness(server);
  const { accounts, database, operator } = harness;
  const referrals = await ensureOpenReferrals(operator, accounts.partner.id);
  const system = await startSystem({
    ...systemOptions,
    // On a busy machine any statement can be slow.
    env: { DATABASE_TIMEOUT_MS: '20000', ...systemOptions.env },
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
    accounts,
    database,
    operator,
    sql: (text, values) => harness.sql(text, values),
    forgetHandshakes: () => harness.forgetHandshakes(),
    system,
    urls,
    referrals,
    lender: createClient(urls.lender, accounts.lender.credential),
    partner: createClient(urls.partner, accounts.partner.credential),
    otherLender: createClient(urls.lender, accounts.otherLender.credential),
    otherPartner: createClient(urls.partner, accounts.otherPartner.credential),
    async close() {
      await system.stop();
      await harness.close();
    },
  };
}
