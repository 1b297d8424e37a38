import * as ownSeeding from '../../src/seed.ts';
import type { createMigratedDatabase } from './database.ts';
import { createHarness } from './harness.ts';
import { startTestApps, type TestAppOptions } from './start-test-apps.ts';
import { createClients } from './test-accounts.ts';

export type TestSystem = Awaited<ReturnType<typeof startTestSystem>>;

export interface TestSystemOptions extends TestAppOptions {
  /** As for `createMigratedDatabase`. */
  server?: Parameters<typeof createMigratedDatabase>[0];
  /** As for `createMigratedDatabase`. */
  apply?: Parameters<typeof createMigratedDatabase>[1];
  /** As for `createHarness`. */
  seeding?: ownSeeding.Seeding;
}

/** Starts the apps as processes, with a separate database, and opens one client per account. */
export async function startTestSystem({ server, apply, seeding = ownSeeding, ...appOptions }: TestSystemOptions = {}) {
  const harness = await createHarness(server, apply, seeding);
  const { accounts, database, operator, sql } = harness;
  /** Ids of at least 20 open referrals of `accounts.partner`, oldest first. */
  const referrals = await seeding.ensureOpenReferrals(operator, accounts.partner.id);
  const { system, urls } = await startTestApps(database, appOptions);
  return {
    accounts,
    database,
    operator,
    sql,
    forgetHandshakes: () => harness.forgetHandshakes(),
    system,
    urls,
    referrals,
    ...createClients(urls, accounts),
    async close(): Promise<void> {
      await system.stop();
      await harness.close();
    },
  };
}
