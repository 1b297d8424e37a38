import type { OperatorContext } from '@deedwire/actions';
import type { Service } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { otherKeyOf } from '../../src/account-key.ts';
import { perAppOf } from '../../src/app-process.ts';
import type { AppOf, NameOf } from '../../src/application.ts';
import {
  callOperatorOf,
  type Environment,
  type OperatorResult,
  type OperatorSurroundings,
} from '../../src/call-operator.ts';
import { startSystemOf, type SystemOf, type SystemOptions } from '../../src/start-system.ts';
import { createAppsInProcess } from './apps-in-process.ts';
import { createMigratedDatabase, type OwnServer } from './database.ts';
import { createHarness } from './harness.ts';
import { joinSharedSystem } from './shared-system.ts';
import { urlsOfApps } from './start-test-apps.ts';
import { createTestAccounts } from './test-accounts.ts';
import { startTestSystem, type TestSystemOptions } from './test-system.ts';
import type { Seeding, TestedService } from './tested-service.ts';

type Apply = Parameters<typeof createMigratedDatabase>[2];

/** The harness of the tests of one service. */
export function harnessOf<Served extends Service, Seeds extends Seeding<Served>, Records extends object>(
  tested: TestedService<Served, Seeds, Records>,
) {
  const { service, commands } = tested;
  return {
    /** Runs the operator's command line in this process. Its environment is `env` only, and its standard input is empty. */
    callOperator: (env: Environment, ...commandArguments: string[]): Promise<OperatorResult> =>
      callOperatorOf({ service, commands }, { env }, ...commandArguments),
    /** As `callOperator`, with standard input, or at a terminal. */
    callOperatorWith: (surroundings: OperatorSurroundings, ...commandArguments: string[]): Promise<OperatorResult> =>
      callOperatorOf({ service, commands }, surroundings, ...commandArguments),
    createAppsInProcess: (database: TestDatabase, secretKeys: Map<string, Buffer>) =>
      createAppsInProcess(tested, database, secretKeys),
    createHarness: (server?: OwnServer, apply?: Apply, seeding: Seeds = tested.seeding) =>
      createHarness(tested, seeding, server, apply),
    createMigratedDatabase: (server?: OwnServer, apply?: Apply): Promise<TestDatabase> =>
      createMigratedDatabase(tested, server, apply),
    createTestAccounts: (operator: OperatorContext) => createTestAccounts<Served>(operator, tested.seeding),
    joinSharedSystem: () => joinSharedSystem(tested),
    otherKey: <Name extends NameOf<Served>>(name: Name) => otherKeyOf(service, name),
    /** A value for each app. */
    perApp: <Value>(valueOf: (name: AppOf<Served>) => Value | Promise<Value>): Promise<Record<AppOf<Served>, Value>> =>
      perAppOf(tested, valueOf),
    /** Starts the apps of a database that a test prepares. */
    startSystem: (options: SystemOptions<AppOf<Served>>): Promise<SystemOf<Served>> => startSystemOf(tested, options),
    startTestSystem: (options?: TestSystemOptions<Served, Seeds>) => startTestSystem(tested, options),
    urlsOfApps: (database: TestDatabase) => urlsOfApps(tested, database),
  };
}
