import { randomBytes } from 'node:crypto';
import { issueCredential } from '@deedwire/actions';
import { type Subscriber, subscribeReceiver } from '@deedwire/development';
import { supplierInterface } from '@deedwire/test-service/supplier-interface';
import { credentialHeaders, postGraphql } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import * as events from '@deedwire/webhook-contract';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startSampleReceiver, type SampleReceiver } from '../src/sample-receiver.ts';
import { createHarness, type Harness } from './harness/index.ts';

const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;
let harness: Harness;
let urls: { customer: string; supplier: string };
beforeAll(async () => {
  harness = await createHarness();
  const [customerApi, supplierApi] = [await harness.startApi('customer'), await harness.startApi('supplier')];
  await Promise.all([customerApi.whenReady, supplierApi.whenReady]);
  urls = { customer: `${customerApi.url}/customer/graphql`, supplier: `${supplierApi.url}/supplier/graphql` };
  return () => harness.close();
});

let printed: string[];
async function newReceiver(): Promise<SampleReceiver> {
  const receiver = await forTest(
    startSampleReceiver({
      prefix: 'X-Service',
      events,
      secret: webhookSecret,
      port: 0,
      print: (text) => printed.push(text),
    }),
  );
  return receiver;
}
beforeEach(() => {
  printed = [];
});

const caller = (interfaceName: 'customer' | 'supplier'): Subscriber => ({
  url: urls[interfaceName],
  headers: credentialHeaders(harness.accounts[interfaceName].credential),
});

interface Subscription {
  id: string;
  callbackUrl: string;
  status: string;
  eventTypes: { type: string; version: string }[];
}

async function readSubscriptions(name: 'customer' | 'supplier'): Promise<Subscription[]> {
  const { credential } = harness.accounts[name];
  const query = '{ webhookSubscriptions(first: 20) { nodes { id callbackUrl status eventTypes { type version } } } }';
  const { body } = await postGraphql<{ webhookSubscriptions: { nodes: Subscription[] } }>(urls[name], credential, {
    query,
  });
  return body.data?.webhookSubscriptions.nodes ?? [];
}

/** The types that each interface offers, at the versions that the receiver pins. */
const alerts = [
  'webhook_delivery.failed',
  'webhook_subscription.disrupted',
  'webhook_subscription.paused',
  'webhook_subscription.recovered',
];
const keys = ['api_key.created', 'api_key.expiring', 'api_key.revoked', 'api_key.rotated'];
const pins = {
  customer: [...keys, 'order.placed', 'webhook.test', ...alerts],
  supplier: [...keys, 'webhook.test', ...alerts],
};

function pinned(types: readonly string[]): Subscription['eventTypes'] {
  return types.map((type) => ({ type, version: '2026-11-01' }));
}

const handshake = 'answered the handshake; its signature verifies';

test.each(['customer', 'supplier'] as const)('subscribes a receiver to every event type of a %s', async (name) => {
  const { url: callbackUrl } = await newReceiver();
  const id = await subscribeReceiver(caller(name), { callbackUrl, webhookSecret, earlierId: null });
  const [subscription] = await readSubscriptions(name);
  expect(subscription).toEqual({ id, callbackUrl, status: 'ACTIVE', eventTypes: pinned(pins[name]) });
  expect(printed).toEqual([handshake]);
});

test('subscribes a receiver to an interface that is newer than the others', async () => {
  const { contract } = supplierInterface;
  const versions = contract.versions.filter(({ version }) => version !== '2026-11-01');
  const service = await harness.startApi('supplier', {}, { ...contract, versions });
  await service.whenReady;
  const account = { interfaceName: 'supplier', accountId: harness.accounts.otherSupplier.id, clientId: null } as const;
  const credential = await issueCredential(harness.operator, {
    ...account,
    schemaVersion: versions[0]?.version ?? null,
  });
  const { url: callbackUrl } = await newReceiver();
  const newer = { url: `${service.url}/supplier/graphql`, headers: credentialHeaders(credential) };
  await subscribeReceiver(newer, { callbackUrl, webhookSecret, earlierId: null });
  expect(printed).toEqual([handshake]);
});

test('reuses an earlier subscription with the same URL, without another handshake', async () => {
  const customer = caller('customer');
  const { url: callbackUrl } = await newReceiver();
  const id = await subscribeReceiver(customer, { callbackUrl, webhookSecret, earlierId: null });
  const before = await readSubscriptions('customer');
  expect(await subscribeReceiver(customer, { callbackUrl, webhookSecret, earlierId: id })).toBe(id);
  expect(await readSubscriptions('customer')).toEqual(before);
  expect(printed).toEqual([handshake]);
});

// `dev.test.ts` moves one to another URL.
test('resumes a subscription that is paused, and adds the event types that it lacks', async () => {
  const customer = caller('customer');
  const { url: callbackUrl } = await newReceiver();
  const id = await subscribeReceiver(customer, { callbackUrl, webhookSecret, earlierId: null });
  const recordId = id.split('/').at(-1);
  await harness.sql(`update webhook_subscription set paused_reason = 'GONE', paused_at = now() where id = $1`, [
    recordId,
  ]);
  await harness.sql(
    `delete from webhook_subscription_event_type where subscription_id = $1 and event_type <> 'order.placed'`,
    [recordId],
  );
  const find = async () => (await readSubscriptions('customer')).find((subscription) => subscription.id === id);
  expect(await find()).toEqual({ id, callbackUrl, status: 'PAUSED', eventTypes: pinned(['order.placed']) });
  expect(await subscribeReceiver(customer, { callbackUrl, webhookSecret, earlierId: id })).toBe(id);
  expect(await find()).toEqual({ id, callbackUrl, status: 'ACTIVE', eventTypes: pinned(pins.customer) });
});

test('rejects with the user error when the callback URL is rejected', async () => {
  await expect(
    subscribeReceiver(caller('customer'), { callbackUrl: 'ftp://127.0.0.1/', webhookSecret, earlierId: null }),
  ).rejects.toThrow(/^The receiver cannot be subscribed: .+/);
});

test('prints a rejected request', async () => {
  const { url } = await newReceiver();
  expect((await fetch(url, { method: 'POST', body: 'not JSON' })).status).toBe(401);
  expect(printed).toEqual(['rejected a request: 401 SIGNATURE_MISSING']);
});
