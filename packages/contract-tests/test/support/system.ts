import { randomBytes } from 'node:crypto';

import type { ActionContext } from '@deedwire/actions';
import {
  ensureOpenReferrals,
  seed,
  startSystem,
  type DevSeed,
  type System,
  type SystemOptions,
} from '@deedwire/dev-environment';
import { createNotifier, createStore, migrate } from '@deedwire/store';
import { createTestDatabase } from '@deedwire/test-postgres';

import { createClient, type Client } from './client.ts';

/** The three apps as processes, on a database of their own, with two organizations in it. */
export interface TestSystem {
  system: System;
  accounts: DevSeed;
  /** What the operator's actions need. */
  operator: ActionContext;
  urls: { lender: string; partner: string };
  /** One client for each account. */
  lender: Client;
  partner: Client;
  otherLender: Client;
  otherPartner: Client;
  /** At least 20 open referrals of `partner`, oldest first. */
  referrals: string[];
  /** What the apps have written so far. */
  logLines: string[];
  /** Forgets how many callback URLs were verified in this minute, for tests that verify more than an account may. */
  forgetHandshakes(): Promise<void>;
  close(): Promise<void>;
}

export async function startTestSystem(options: Pick<SystemOptions, 'env' | 'appEnv'> = {}): Promise<TestSystem> {
  const database = await createTestDatabase({
    template: 'migrated',
    prepare: async (url) => void (await migrate(url)),
  });
  const operatorUrl = await database.urlFor('operator');
  const store = createStore({ databaseUrl: operatorUrl, applicationName: 'contract-tests' });
  const admin = createStore({
    databaseUrl: database.databaseUrl,
    applicationName: 'contract-tests-admin',
    maxConnections: 1,
  });
  const notifier = createNotifier({ databaseUrl: operatorUrl, applicationName: 'contract-tests', onError: () => {} });
  const operator: ActionContext = { store, gidNamespace: 'service', notify: () => notifier.notify() };
  const accounts = await seed(operator);
  const referrals = await ensureOpenReferrals(operator, accounts.partner.id);

  const logLines: string[] = [];
  const system = await startSystem({
    ...options,
    databaseUrls: {
      'lender-api': await database.urlFor('lender_api'),
      'partner-api': await database.urlFor('partner_api'),
      'webhook-worker': await database.urlFor('webhook_worker'),
    },
    webhookSecretKeys: `test:${randomBytes(32).toString('base64')}`,
    onLine: (app, line) => logLines.push(`${app} ${line}`),
  });
  const urls = {
    lender: `${system.apps['lender-api'].url}/lenders/graphql`,
    partner: `${system.apps['partner-api'].url}/partners/graphql`,
  };
  return {
    system,
    accounts,
    operator,
    urls,
    lender: createClient(urls.lender, accounts.lender.credential),
    partner: createClient(urls.partner, accounts.partner.credential),
    otherLender: createClient(urls.lender, accounts.otherLender.credential),
    otherPartner: createClient(urls.partner, accounts.otherPartner.credential),
    referrals,
    logLines,
    async forgetHandshakes() {
      await admin.query({ name: 'forget-handshakes', text: 'delete from webhook_handshake_count' }, []);
    },
    async close() {
      await system.stop();
      await notifier.close();
      await Promise.all([store.close(), admin.close()]);
      await database.drop();
    },
  };
}
