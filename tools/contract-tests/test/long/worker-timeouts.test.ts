import { setTimeout as sleep } from 'node:timers/promises';
import { createHarness, startTestSystem } from '@deedwire/dev-environment/harness';
import { eventually, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { subscribe } from '../support/subscribe.ts';
import * as operations from '../support/webhook-operations.ts';

/** The longest timeout is 15 s. A machine that stalls uses the rest. */
const responseMs = 12_000;

const slowReceiver = async () => {
  const receiver = await forFile(startReceiver());
  receiver.onDelivery = (response) => void setTimeout(() => response.writeHead(200).end(), responseMs);
  return receiver;
};
const eventTypes = [{ type: 'order.placed' }];

test('after SIGTERM, a worker with a delay of 10 s records a response after 12 s, and exits with 0', async () => {
  const receiver = await slowReceiver();
  const worker = { SHUTDOWN_DELAY_MS: '10000' };
  const t = await forFile(
    startTestSystem({ apps: ['customer-api', 'webhook-worker'], appEnv: { 'webhook-worker': worker } }),
  );
  await subscribe(t.customer, { callbackUrl: receiver.url, eventTypes, timeoutSeconds: 15 });
  const startedMs = performance.now();
  const process = t.system.apps['webhook-worker'];
  process.kill('SIGTERM');
  // Late in the delay, so that the request ends long after it.
  await sleep(6_000);
  await t.customer.request(operations.PlaceDocument, { input: { item: 'Ada' } });
  expect(await process.ended).toEqual({ exitCode: 0, signal: null });
  expect(performance.now() - startedMs).toBeGreaterThan(6_000 + responseMs);
  // Guards against hanging only.
  expect(performance.now() - startedMs).toBeLessThan(120_000);
  const { webhookDeliveries } = await t.customer.request(operations.DeliveriesDocument, {});
  expect(webhookDeliveries.nodes).toMatchObject([{ status: 'DELIVERED', attempts: [{ number: 1 }] }]);
  expect(receiver.deliveries).toHaveLength(1);
});

test('the lease of 15 s survives a request of 12 s beside another worker, which repeats nothing', async () => {
  const receiver = await slowReceiver();
  const harness = await forFile(createHarness());
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  // The first lease ends during the request.
  await sleep(5_000);
  await harness.place(1);
  await receiver.waitFor(1);
  await harness.startWorker();
  await eventually(async () =>
    expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED', attempts: [{ number: 1 }] }]),
  );
  expect(receiver.deliveries).toHaveLength(1);
  expect(await harness.sql('select from webhook_worker where alive')).toHaveLength(2);
});
