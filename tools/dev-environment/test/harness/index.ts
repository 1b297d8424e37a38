import type { testService } from '@deedwire/core/test-service';
import { placeOrder } from '@deedwire/test-service/place-order';
import type { Client } from '@deedwire/testing';
import type { AppOf } from '../../src/application.ts';
import { harnessOf } from './harness-of.ts';
import { placeOrders } from './place-orders.ts';
import { serviceTests } from './service-tests.ts';
import type { TestAccount } from './test-accounts.ts';

// The harness of the tests of the platform, which run the test service.

const harness = harnessOf(serviceTests);

export const {
  callOperator,
  callOperatorWith,
  createAppsInProcess,
  createMigratedDatabase,
  createTestAccounts,
  otherKey,
  perApp,
  startSystem,
  urlsOfApps,
} = harness;

/** A database with accounts, without events. A test starts the apps that it needs in this process. */
export async function createHarness(...parameters: Parameters<typeof harness.createHarness>) {
  const { api, ...created } = await harness.createHarness(...parameters);
  return {
    ...created,
    /** The customer API's context. */
    customerApi: api,
    /** Places orders of a customer, one after the other, and returns their ids. */
    async place(count: number, customer: TestAccount = created.accounts.customer): Promise<string[]> {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { order } = await placeOrder(api, customer, { item: `Item ${index}` });
        ids.push(order?.id ?? '');
      }
      return ids;
    },
  };
}

/** Creates accounts in the apps that test files share. */
export async function joinSharedSystem() {
  return withPlace(await harness.joinSharedSystem());
}

/** Starts the apps as processes, with a separate database, and opens one client per account. */
export async function startTestSystem(...parameters: Parameters<typeof harness.startTestSystem>) {
  return withPlace(await harness.startTestSystem(...parameters));
}

function withPlace<System extends { customer: Client }>(system: System) {
  return {
    ...system,
    /** Places orders by requests of a customer, one after the other, and returns their ids. */
    place: (count: number, customer: Client = system.customer): Promise<string[]> => placeOrders(customer, count),
  };
}

export type AppName = AppOf<typeof testService>;
export type Harness = Awaited<ReturnType<typeof createHarness>>;
export type SharedSystem = Awaited<ReturnType<typeof joinSharedSystem>>;
export type TestSystem = Awaited<ReturnType<typeof startTestSystem>>;

export type { OperatorResult } from '../../src/call-operator.ts';
// Declarations of tests name these.
export type { AccountKeyOf } from '../../src/account-key.ts';
export type { AppOf, NameOf } from '../../src/application.ts';
export type { ServiceParts } from './apps-in-process.ts';
export { harnessOf } from './harness-of.ts';
export { placeOrders } from './place-orders.ts';
export { serviceTests } from './service-tests.ts';
export { raiseLimit, type TestAccount, type TestAccountsOf } from './test-accounts.ts';
