import {
  createHarness,
  createTestAccounts,
  type Harness,
  type TestAccount,
} from '@deedwire/dev-environment/firm-harness';
import { startReceiver, type Receiver } from '@deedwire/testing';
import { test as base } from 'vitest';

interface Fixtures {
  /** A database of the test. */
  harness: Harness;
  receiver: Receiver;
  /** A database with a worker, for the tests of a file that look only at what belongs to their partner. */
  shared: Harness;
  /** A partner of `shared`. */
  partner: TestAccount;
}

/** Gives each test what it names, so that tests can run at the same time. */
export const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the names of the fixtures that a fixture needs from here
  harness: async ({}, use) => {
    const harness = await createHarness();
    await use(harness);
    await harness.close();
  },
  // oxlint-disable-next-line no-empty-pattern -- as above
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    await receiver.close();
  },
  shared: [
    // oxlint-disable-next-line no-empty-pattern -- as above
    async ({}, use) => {
      const shared = await createHarness();
      await shared.startWorker();
      await use(shared);
      await shared.close();
    },
    { scope: 'file' },
  ],
  partner: async ({ shared }, use) => {
    const { partner } = await createTestAccounts(shared.operator);
    await use(partner);
  },
});
