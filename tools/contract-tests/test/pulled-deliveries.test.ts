import { stripTypeScriptTypes } from 'node:module';
import { createHarness } from '@deedwire/dev-environment/harness';
import { receiverKitBlock } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import * as events from '@deedwire/webhook-contract';
import { createWebhookReceiver, type PullingReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { insertDelivery, insertPayload, insertSubscription } from './support/stored-deliveries.ts';

// `packages/webhook-receiver/test/full/pulled.test.ts` shows that pulls and requests share the ids of deliveries.
test('the block of the receiver kit processes the failed deliveries that the API still has', async () => {
  const harness = await forTest(createHarness());
  const service = await harness.startApi('customer');
  await service.whenReady;
  const account = harness.accounts.customer;
  const subscription = await insertSubscription(harness, 'customer', account);
  const other = await insertSubscription(harness, 'customer', account);
  const ids: string[] = [];
  // Several pages, a delivery without a payload, one that was delivered, and one of another subscription.
  for (let sequence = 1; sequence <= 25; sequence += 1) {
    const of = sequence === 25 ? other : subscription;
    const delivery = await insertDelivery(harness, of, { sequence });
    const body = { id: `gid://service/WebhookEvent/${delivery.eventId}`, type: 'webhook.test', version: '2026-11-01' };
    const rest = { timestamp: '2026-11-02T09:30:00.000Z', data: { message: `\u{1F3E0} ${sequence}` } };
    if (sequence !== 23) await insertPayload(harness, of, delivery, Buffer.from(JSON.stringify({ ...body, ...rest })));
    if (sequence === 24) continue;
    await harness.sql(
      `insert into webhook_failed_delivery (subscription_id, delivery_id, interface) values (${of.id}, ${delivery.id}, 'customer')`,
    );
    if (sequence < 23) ids.unshift(delivery.gid);
  }

  const { credential } = account;
  vi.stubEnv('DEEDWIRE_URL', `${service.url}/customer/graphql`);
  vi.stubEnv('CLIENT_ID', credential.clientId);
  vi.stubEnv('API_KEY', credential.apiKey);
  vi.stubEnv('ORGANIZATION_ID', credential.organizationId);
  onTestFinished(() => void vi.unstubAllEnvs());
  const handled: unknown[] = [];
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [],
    awaitingSecret: true,
    store: memoryStore(),
    on: { 'webhook.test': { '2026-11-01': (_event, { id, meta }) => void handled.push([id, meta.source]) } },
  });
  const { processFailed } = await loadBlock();
  expect(await processFailed(receiver, subscription.gid)).toEqual({ PROCESSED: 22, NO_PAYLOAD: 1 });
  expect(handled).toEqual(ids.map((id) => [id, 'pull']));
  expect(await processFailed(receiver, subscription.gid)).toEqual({ DUPLICATE: 22, NO_PAYLOAD: 1 });
  await expect(processFailed(receiver, 'unknown')).resolves.toEqual({});
  vi.stubEnv('API_KEY', 'wrong');
  await expect(processFailed(receiver, subscription.gid)).rejects.toThrow('UNAUTHENTICATED');
});

interface Block {
  readonly processFailed: (receiver: PullingReceiver, subscriptionId: string) => Promise<unknown>;
}

function loadBlock(): Promise<Block> {
  const block = receiverKitBlock('processFailed');
  return import(`data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(block))}`);
}
