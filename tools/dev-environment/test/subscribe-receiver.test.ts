import { issueCredential } from '@deedwire/actions';
import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { postGraphql } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { DevCaller } from '../src/dev-file.ts';
import { startSampleReceiver, type SampleReceiver } from '../src/sample-receiver.ts';
import { subscribeReceiver } from '../src/subscribe-receiver.ts';
import { createHarness, type Harness } from './harness/firm.ts';

const webhookSecret = generateWebhookSecret();
let harness: Harness;
let urls: { partner: string; lender: string };
beforeAll(async () => {
  harness = await createHarness();
  const [partnerApi, lenderApi] = [await harness.startPartnerApi(), await harness.startLenderApi()];
  await Promise.all([partnerApi.whenReady, lenderApi.whenReady]);
  urls = { partner: `${partnerApi.url}/partners/graphql`, lender: `${lenderApi.url}/lenders/graphql` };
  return () => harness.close();
});

let printed: string[];
async function newReceiver(): Promise<SampleReceiver> {
  const receiver = await forTest(
    startSampleReceiver({ secret: webhookSecret, port: 0, print: (text) => printed.push(text) }),
  );
  return receiver;
}
beforeEach(() => {
  printed = [];
});

const caller = (interfaceName: 'partner' | 'lender'): DevCaller => ({
  url: urls[interfaceName],
  ...harness.accounts[interfaceName].credential,
});

interface Subscription {
  id: string;
  callbackUrl: string;
  status: string;
  eventTypes: { type: string; version: string }[];
}

async function readSubscriptions(by: DevCaller): Promise<Subscription[]> {
  const query = '{ webhookSubscriptions(first: 20) { nodes { id callbackUrl status eventTypes { type version } } } }';
  const { body } = await postGraphql<{ webhookSubscriptions: { nodes: Subscription[] } }>(by.url, by, { query });
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
  partner: [...keys, 'referral.converted', 'referral.created', 'referral.declined', 'webhook.test', ...alerts],
  lender: [
    ...keys,
    'lender.updated',
    'team_member.added',
    'team_member.removed',
    'team_member.updated',
    'webhook.test',
    ...alerts,
  ],
};

function pinned(types: readonly string[]): Subscription['eventTypes'] {
  return types.map((type) => ({ type, version: '2026-11-01' }));
}

const handshake = 'answered the handshake; its signature verifies';

test.each(['partner', 'lender'] as const)('subscribes a receiver to every event type of a %s', async (name) => {
  const { url: callbackUrl } = await newReceiver();
  const id = await subscribeReceiver(caller(name), { callbackUrl, webhookSecret, earlierId: null });
  const [subscription] = await readSubscriptions(caller(name));
  expect(subscription).toEqual({ id, callbackUrl, status: 'ACTIVE', eventTypes: pinned(pins[name]) });
  expect(printed).toEqual([handshake]);
});

test('subscribes a receiver to an interface that is newer than the others', async () => {
  const { contract } = lenderInterface;
  const versions = contract.versions.filter(({ version }) => version !== '2026-11-01');
  const service = await harness.startLenderApi({}, { ...contract, versions });
  await service.whenReady;
  const account = { interfaceName: 'lender', accountId: harness.accounts.otherLender.id, clientId: null } as const;
  const credential = await issueCredential(harness.operator, {
    ...account,
    schemaVersion: versions[0]?.version ?? null,
  });
  const { url: callbackUrl } = await newReceiver();
  const newer = { url: `${service.url}/lenders/graphql`, ...credential };
  await subscribeReceiver(newer, { callbackUrl, webhookSecret, earlierId: null });
  expect(printed).toEqual([handshake]);
});

test('reuses an earlier subscription with the same URL, without another handshake', async () => {
  const partner = caller('partner');
  const { url: callbackUrl } = await newReceiver();
  const id = await subscribeReceiver(partner, { callbackUrl, webhookSecret, earlierId: null });
  const before = await readSubscriptions(partner);
  expect(await subscribeReceiver(partner, { callbackUrl, webhookSecret, earlierId: id })).toBe(id);
  expect(await readSubscriptions(partner)).toEqual(before);
  expect(printed).toEqual([handshake]);
});

// `dev.test.ts` moves one to another URL.
test('resumes a subscription that is paused, and adds the event types that it lacks', async () => {
  const partner = caller('partner');
  const { url: callbackUrl } = await newReceiver();
  const id = await subscribeReceiver(partner, { callbackUrl, webhookSecret, earlierId: null });
  const recordId = id.split('/').at(-1);
  await harness.sql(`update webhook_subscription set paused_reason = 'GONE', paused_at = now() where id = $1`, [
    recordId,
  ]);
  await harness.sql(
    `delete from webhook_subscription_event_type where subscription_id = $1 and event_type <> 'referral.declined'`,
    [recordId],
  );
  const find = async () => (await readSubscriptions(partner)).find((subscription) => subscription.id === id);
  expect(await find()).toEqual({ id, callbackUrl, status: 'PAUSED', eventTypes: pinned(['referral.declined']) });
  expect(await subscribeReceiver(partner, { callbackUrl, webhookSecret, earlierId: id })).toBe(id);
  expect(await find()).toEqual({ id, callbackUrl, status: 'ACTIVE', eventTypes: pinned(pins.partner) });
});

test('rejects with the user error when the callback URL is rejected', async () => {
  await expect(
    subscribeReceiver(caller('partner'), { callbackUrl: 'ftp://127.0.0.1/', webhookSecret, earlierId: null }),
  ).rejects.toThrow(/^The sample receiver cannot be subscribed: .+/);
});

test('prints a rejected request', async () => {
  const { url } = await newReceiver();
  expect((await fetch(url, { method: 'POST', body: 'not JSON' })).status).toBe(401);
  expect(printed).toEqual(['rejected a request: 401 SIGNATURE_MISSING']);
});
