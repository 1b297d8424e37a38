import type { TestDatabase } from '@deedwire/embedded-postgres';
import { convertReferral, createReferral } from '@deedwire/firm/partner';
import type { InterfaceConfig, ServedContract } from '@deedwire/graphql-server';
import type { NameOf } from '../../../src/application.ts';
import type { Firm } from '../../../src/firm/system.ts';
import type { ServiceParts } from '../../harness/apps-in-process.ts';
import { harnessOf } from '../../harness/harness-of.ts';
import type { TestAccount as TestAccountOf } from '../../harness/test-accounts.ts';
import { firmTests } from './firm-tests.ts';

// The harness of the tests of the law firm, and of those of the platform that do not run the test service yet.

const harness = harnessOf(firmTests);

export const {
  callOperator,
  callOperatorWith,
  createMigratedDatabase,
  createTestAccounts,
  joinSharedSystem,
  otherKey,
  startTestSystem,
  urlsOfApps,
} = harness;

type StartApi = ReturnType<typeof harness.createAppsInProcess>['startApi'];

/** Starts the app of one interface. */
const startersOf = ({ startApi }: { startApi: StartApi }) => ({
  startPartnerApi: (config?: Partial<InterfaceConfig>, contract?: ServedContract, more?: ServiceParts) =>
    startApi('partner', config, contract, more),
  startLenderApi: (config?: Partial<InterfaceConfig>, contract?: ServedContract, more?: ServiceParts) =>
    startApi('lender', config, contract, more),
});

export function createAppsInProcess(database: TestDatabase, secretKeys: Map<string, Buffer>) {
  const apps = harness.createAppsInProcess(database, secretKeys);
  return { ...apps, ...startersOf(apps) };
}

/** A database with the accounts that `seed` creates, without their events. A test starts the apps that it needs in this process. */
export async function createHarness(...parameters: Parameters<typeof harness.createHarness>) {
  const { api, ...created } = await harness.createHarness(...parameters);
  return {
    ...created,
    ...startersOf(created),
    /** The partner API's context. */
    partnerApi: api,
    /** Creates referrals of a partner, one after the other, and returns their ids. */
    async refer(count: number, partner: TestAccount = created.accounts.partner): Promise<string[]> {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { referral } = await createReferral(api, partner, { clientName: `Client ${index}` });
        ids.push(referral?.id ?? '');
      }
      return ids;
    },
    async convert(referralId: string): Promise<void> {
      await convertReferral(created.operator, { referralId });
    },
  };
}

export type TestAccount = TestAccountOf<NameOf<Firm>>;
export type Harness = Awaited<ReturnType<typeof createHarness>>;
export type SharedSystem = Awaited<ReturnType<typeof joinSharedSystem>>;
export type TestSystem = Awaited<ReturnType<typeof startTestSystem>>;

export type { OperatorResult } from '../../../src/call-operator.ts';
// Declarations of tests name these.
export type { AccountKeyOf } from '../../../src/account-key.ts';
export type { AppOf, NameOf } from '../../../src/application.ts';
export type { ServiceParts } from '../../harness/apps-in-process.ts';
export type { FirmRecords, FirmSeeding as Seeding } from './firm-tests.ts';
export { raiseLimit, type TestAccountsOf } from '../../harness/test-accounts.ts';
