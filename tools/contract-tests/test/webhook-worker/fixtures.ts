import { test as base } from 'vitest';
import { createHarness, type Harness } from './harness.ts';
import { startReceiver, type Receiver } from './receiver.ts';

/** Tests with a database, workers and a receiver of their own: they can run side by side. */
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
