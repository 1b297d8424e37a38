import type { PostgresServer } from '@deedwire/embedded-postgres';
import type { Client } from '@deedwire/testing';
import { ensureOpenReferrals } from '../seed.ts';
import type { System } from '../start-system.ts';
import { createHarness, type Harness } from './harness.ts';
import { startTestApps, type TestAppOptions } from './start-test-apps.ts';
import { createClients, type InterfaceUrls } from './test-accounts.ts';

/** The three apps as processes, with a separate database. */
export interface TestSystem extends Pick<
  Harness,
  'accounts' | 'database' | 'operator' | 'sql' | 'forgetHandshakes' | 'close'
> {
  system: System;
  urls: InterfaceUrls;
  /** Ids of at least 20 open referrals of `accounts.partner`, oldest first. */
  referrals: string[];
  /** One client per account. */
  lender: Client;
  partner: Client;
  otherLender: Client;
  otherPartner: Client;
}

export interface TestSystemOptions extends TestAppOptions {
  /** As for `createMigratedDatabase`. */
  server?: Pick<PostgresServer, 'url' | 'stop'>;
  /** As for `createMigratedDatabase`. */
  apply?: (databaseUrl: string) => Promise<unknown>;
}

export async function startTestSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  const { server, apply, ...appOptions } = options;
  const harness = await createHarness(server, apply);
  const { accounts, database, operator } = harness;
  const referrals = await ensureOpenReferrals(operator, accounts.partner.id);
  const { system, urls } = await startTestApps(database, appOptions);
  return {
    accounts,
    database,
    operator,
    sql: (text, values) => harness.sql(text, values),
    forgetHandshakes: () => harness.forgetHandshakes(),
    system,
    urls,
    referrals,
    ...createClients(urls, accounts),
    async close() {
      await system.stop();
      await harness.close();
    },
  };
}
