import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { startReceiver } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createInterfaceClient, startInterfaces } from './support/interface-client.ts';

/** Behind a transaction pooler, an app keeps the first one for its sessions, and names the others. */
const settings = [
  `datestyle = 'German, DMY'`,
  ...(process.env['TEST_POOLER_URL']
    ? []
    : [
        'array_nulls = off',
        `default_transaction_isolation = 'serializable'`,
        'quote_all_identifiers = on',
        'row_security = off',
      ]),
];

test('subscribes, creates, receives and reads in a database with other settings', async () => {
  const harness = await createHarness();
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await harness.close();
    await receiver.close();
  });
  const name = new URL(harness.database.databaseUrl).pathname.slice(1);
  for (const setting of settings) await harness.sql(`alter database "${name}" set ${setting}`);
  const { mutate } = createInterfaceClient(await startInterfaces(harness, ['customer']), 'customer', '2026-11-01');
  await harness.startWorker();

  const eventTypes = [{ type: 'order.placed' }];
  const input = { callbackUrl: receiver.url, eventTypes };
  const userErrors: object[] = [];
  expect(await mutate('createWebhookSubscription', 'webhookSubscription { id }', input)).toMatchObject({ userErrors });
  expect(await mutate('createWebhookListener', 'webhookListener { id }', { eventTypes })).toMatchObject({ userErrors });
  const startMs = Date.now();
  const fields = 'order { id placedAt note buyerEmail }';
  expect(await mutate('placeOrder', fields, { item: 'Ada' })).toMatchObject({
    order: { note: null, buyerEmail: null },
    userErrors,
  });

  const [delivery] = await receiver.waitFor(1);
  const event = JSON.parse(String(delivery?.body));
  expect(Math.abs(Date.parse(event.timestamp) - startMs)).toBeLessThan(60_000);
  expect(event).toMatchObject({ type: 'order.placed', data: { note: null } });
  await expect
    .poll(async () => (await harness.deliveries())[0])
    .toMatchObject({ status: 'DELIVERED', attempts: [{ responseStatus: 204 }] });

  const operator = { DATABASE_URL: await harness.database.urlFor('operator') };
  expect(await callOperator(operator, 'database', 'check', '--json')).toMatchObject({ exitCode: 0 });
});
