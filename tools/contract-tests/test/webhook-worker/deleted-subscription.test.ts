import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  findWebhookDelivery,
  listAllWebhookDeliveries,
  listWebhookDeliveries,
  readWebhookDelivery,
} from '@deedwire/actions';
import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

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

test('nothing of a deleted subscription or its secret can be read again', async ({ harness, receiver }) => {
  const { partnerApi, operator } = harness;
  const { partner } = harness.accounts;
  await harness.startWorker();
  const { webhookSubscription, webhookSecret } = await createWebhookSubscription(partnerApi, partner, {
    callbackUrl: receiver.url,
    eventTypes: [{ type: 'referral.created' }],
    idempotencyKey: 'subscribe',
  });
  const id = webhookSubscription?.id ?? '';
  const ciphertextIn = async (table: string): Promise<string> => {
    const [row] = await harness.sql(`select encode(secret_ciphertext, 'hex') as hex from ${table}`);
    return String(row?.hex);
  };
  const ciphertext = await ciphertextIn('webhook_subscription');
  const savedCiphertext = await ciphertextIn('idempotency_key');

  // A delivery that waits for its retry, with the state of its receiver.
  receiver.onDelivery = (response) => response.writeHead(500).end();
  await harness.refer(1);
  await eventually(async () => expect(await harness.sql('select from webhook_receiver_state')).toHaveLength(1));
  const [delivery] = await harness.deliveries();
  expect(delivery).toMatchObject({ status: 'PENDING', attempts: [{ responseStatus: 500 }] });
  const deliveryId = delivery?.id ?? '';
  await eventually(async () => expect(await harness.sql('select from webhook_exchange')).toHaveLength(1));
  expect(await tablesWith(harness, receiver.url)).toEqual(['idempotency_key', 'webhook_subscription']);
  expect(await tablesWith(harness, ciphertext)).toContain('webhook_subscription');
  expect(await tablesWith(harness, savedCiphertext)).toContain('idempotency_key');

  expect((await deleteWebhookSubscription(partnerApi, partner, { id })).userErrors).toEqual([]);
  for (const text of [receiver.url, webhookSecret, ciphertext, savedCiphertext]) {
    expect(await tablesWith(harness, String(text))).toEqual([]);
  }
  expect(await harness.deliveries()).toEqual([]);
  const all = { first: 10, after: null, subscriptionId: null, status: null };
  expect((await listAllWebhookDeliveries(operator, all)).edges).toEqual([]);
  const ofSubscription = await listWebhookDeliveries(partnerApi, partner, { first: 10, subscriptionId: id });
  expect(ofSubscription.edges).toEqual([]);
  expect(await findWebhookDelivery(partnerApi, partner, deliveryId)).toBeNull();
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
