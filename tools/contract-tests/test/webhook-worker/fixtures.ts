import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { startReceiver, type Receiver } from '@deedwire/testing';
import { test as base } from 'vitest';

/** Gives each test a database, workers and a receiver, so that tests can run at the same time. */
export const test = base.extend<{ harness: Harness; receiver: Receiver }>({
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
});
