import { createHarness, createTestAccounts } from '@deedwire/dev-environment/harness';
import { startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { freezeAtRequests } from '../support/freeze-under-load.ts';

const harness = await forFile(createHarness());
const receiver = await forFile(startReceiver());

test('a freeze at each of 1,000 requests refuses only what comes after it, and loses and doubles nothing', async () => {
  const { customer: staying } = await createTestAccounts(harness.operator);
  const service = await harness.startApi('customer');
  await service.whenReady;
  await harness.startWorker();
  const url = `${service.url}/customer/graphql`;
  const counts = await freezeAtRequests(harness, { url, leaving: harness.accounts.customer, staying, receiver }, 1_000);
  expect(counts.acknowledged).toBeGreaterThan(1_000);
  expect(counts.refused).toBeGreaterThan(100);
});
