import type { Service } from '@deedwire/core';
import type { createMigratedDatabase, OwnServer } from './database.ts';
import { createHarness } from './harness.ts';
import { startTestApps, type TestAppOptions } from './start-test-apps.ts';
import { createClients } from './test-accounts.ts';
import type { Seeding, TestedService } from './tested-service.ts';

export interface TestSystemOptions<Served extends Service, Seeds> extends TestAppOptions<Served> {
  /** As for `createMigratedDatabase`. */
  server?: OwnServer;
  /** As for `createMigratedDatabase`. */
  apply?: Parameters<typeof createMigratedDatabase>[2];
  /** As for `createHarness`. */
  seeding?: Seeds;
}

/** Starts the apps as processes, with a separate database, and opens one client per account. */
export async function startTestSystem<Served extends Service, Seeds extends Seeding<Served>, Records extends object>(
  tested: TestedService<Served, Seeds, Records>,
  { server, apply, seeding = tested.seeding, ...appOptions }: TestSystemOptions<Served, Seeds> = {},
) {
  const harness = await createHarness(tested, seeding, server, apply);
  const { accounts, database, operator, sql } = harness;
  const records = await tested.seedRecords(operator, accounts, seeding);
  const { system, urls } = await startTestApps(tested, database, appOptions);
  return {
    ...records,
    accounts,
    database,
    operator,
    sql,
    forgetHandshakes: () => harness.forgetHandshakes(),
    system,
    urls,
    ...createClients(urls, accounts),
    async close(): Promise<void> {
      await system.stop();
      await harness.close();
    },
  };
}
