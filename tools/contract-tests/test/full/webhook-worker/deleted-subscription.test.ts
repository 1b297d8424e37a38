import {
  createWebhookListener,
  createWebhookSubscription,
  deleteWebhookListener,
  deleteWebhookSubscription,
  findWebhookDelivery,
  listAllWebhookDeliveries,
  listWebhookDeliveries,
  readWebhookDelivery,
} from '@deedwire/actions';
import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from '../../webhook-worker/fixtures.ts';

/** The tables in which some row contains the text. */
async function tablesWith(harness: Harness, text: string): Promise<string[]> {
  const tables = await harness.sql(`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname`);
  expect(tables.length).toBeGreaterThan(20);
  const found: string[] = [];
  for (const { name } of tables) {
    // Byte strings read as hexadecimal digits.
    const rows = await harness.sql(`select from "${String(name)}" t where position($1 in to_jsonb(t)::text) > 0`, [
      text,
    ]);
    if (rows.length > 0) found.push(String(name));
  }
  return found;
}

test('nothing of a deleted subscription, its secret or its request header can be read again', async ({
  harness,
  receiver,
}) => {
  const { customerApi, operator } = harness;
  const { customer } = harness.accounts;
  await harness.startWorker();
  const { webhookSubscription, webhookSecret } = await createWebhookSubscription(customerApi, customer, {
    callbackUrl: receiver.url,
    eventTypes: [{ type: 'order.placed' }],
    requestHeader: { name: 'X-Gateway-Key', value: '4d9f0c62b7e1458a9c3a7f20d86b51e4' },
    idempotencyKey: 'subscribe',
  });
  const id = webhookSubscription?.id ?? '';
  const ciphertextIn = async (table: string, column = 'secret_ciphertext'): Promise<string> => {
    const [row] = await harness.sql(`select encode(${column}, 'hex') as hex from ${table}`);
    return String(row?.hex);
  };
  const ciphertext = await ciphertextIn('webhook_subscription');
  const savedCiphertext = await ciphertextIn('idempotency_key');
  const headerCiphertext = await ciphertextIn('webhook_subscription', 'request_header_ciphertext');
  const { origin } = new URL(receiver.url);

  // A delivery that waits for its retry, with the state of its receiver.
  receiver.onDelivery = (response) => response.writeHead(500, { 'Retry-After': '3600' }).end();
  await harness.place(1);
  await eventually(async () => expect(await harness.sql('select from webhook_receiver_state')).toHaveLength(1));
  const [delivery] = await harness.deliveries();
  expect(delivery).toMatchObject({ status: 'PENDING', attempts: [{ responseStatus: 500 }] });
  const deliveryId = delivery?.id ?? '';
  await eventually(async () => expect(await harness.sql('select from webhook_exchange')).toHaveLength(1));
  expect(await tablesWith(harness, receiver.url)).toEqual(['idempotency_key', 'webhook_subscription']);
  expect(await tablesWith(harness, ciphertext)).toContain('webhook_subscription');
  expect(await tablesWith(harness, savedCiphertext)).toContain('idempotency_key');
  expect(await tablesWith(harness, headerCiphertext)).toEqual(['webhook_subscription']);

  expect((await deleteWebhookSubscription(customerApi, customer, { id })).userErrors).toEqual([]);
  for (const text of [origin, webhookSecret, ciphertext, savedCiphertext, headerCiphertext, 'X-Gateway-Key']) {
    expect(await tablesWith(harness, String(text))).toEqual([]);
  }
  expect(await harness.deliveries()).toEqual([]);
  const all = { first: 10, after: null, subscriptionId: null, status: null };
  expect((await listAllWebhookDeliveries(operator, all)).edges).toEqual([]);
  const ofSubscription = await listWebhookDeliveries(customerApi, customer, { first: 10, subscriptionId: id });
  expect(ofSubscription.edges).toEqual([]);
  expect(await findWebhookDelivery(customerApi, customer, deliveryId)).toBeNull();
  await expect(listAllWebhookDeliveries(operator, { ...all, subscriptionId: id })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await expect(readWebhookDelivery(operator, { deliveryId })).rejects.toMatchObject({ code: 'NOT_FOUND' });

  // The worker deletes the rest.
  await eventually(async () => {
    for (const table of [
      'webhook_pending_delivery',
      'webhook_receiver_state',
      'webhook_event_queue',
      'webhook_exchange',
    ]) {
      expect(await harness.sql(`select from ${table}`)).toEqual([]);
    }
  });
});

/** Creates a subscription and a listener. Returns the numbers of both, and a function that deletes them. */
async function subscribeAndListen(
  { customerApi, accounts: { customer } }: Harness,
  callbackUrl: string,
): Promise<{ numbers: string[]; remove: () => Promise<void> }> {
  const eventTypes = [{ type: 'order.placed' }];
  const { webhookSubscription } = await createWebhookSubscription(customerApi, customer, { callbackUrl, eventTypes });
  const { webhookListener } = await createWebhookListener(customerApi, customer, { eventTypes });
  const [subscription, listener] = [webhookSubscription?.id ?? '', webhookListener?.id ?? ''];
  return {
    numbers: [subscription, listener].map((gid) => gid.split('/').at(-1) ?? ''),
    async remove() {
      expect(await deleteWebhookSubscription(customerApi, customer, { id: subscription })).toMatchObject({
        userErrors: [],
      });
      expect(await deleteWebhookListener(customerApi, customer, { id: listener })).toMatchObject({ userErrors: [] });
    },
  };
}

/** The tables, other than those of the audit log, that still mention one of these records. */
async function tablesAbout(harness: Harness, numbers: readonly string[]): Promise<string[]> {
  const found = await Promise.all(numbers.map((number) => tablesWith(harness, number)));
  return found.flat().filter((name) => !name.startsWith('audit_entry'));
}

test('a deleted subscription or listener with events leaves nothing once its deliveries were dropped, and one without events leaves nothing at once', async ({
  harness,
  receiver,
}) => {
  const worker = await harness.startWorker();
  const { numbers, remove } = await subscribeAndListen(harness, receiver.url);
  await harness.place(1);
  await receiver.waitFor(1);
  await eventually(async () =>
    expect(await harness.sql('select from webhook_subscription_sequence where last_sequence = 1')).toHaveLength(2),
  );
  await remove();
  await eventually(async () => expect(await harness.sql('select from webhook_event_queue')).toEqual([]));
  await eventually(async () => expect(await harness.sql('select from webhook_deleted_backlog')).toEqual([]));

  // The next owner of the shard looks for them at once.
  const replaceWorker = async (running: typeof worker): Promise<typeof worker> => {
    const next = await harness.startWorker();
    await harness.stopWorker(running);
    return next;
  };
  await harness.sql(`update webhook_subscription set deleted_at = deleted_at - interval '37 days'`);
  const next = await replaceWorker(worker);
  const other = await subscribeAndListen(harness, receiver.url);
  await other.remove();
  await eventually(async () => expect(await tablesAbout(harness, other.numbers)).toEqual([]));
  expect(await harness.sql('select from webhook_subscription')).toHaveLength(2);

  await harness.sql(`update webhook_subscription set deleted_at = deleted_at - interval '2 days'`);
  for (const table of ['webhook_delivery', 'webhook_attempt']) await harness.sql(`delete from ${table}`);
  await replaceWorker(next);
  await eventually(async () => expect(await tablesAbout(harness, numbers)).toEqual([]));
});
