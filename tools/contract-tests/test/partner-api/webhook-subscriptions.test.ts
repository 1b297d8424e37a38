import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import type { RunningServer } from '@deedwire/service-runtime';
import { echoToken, postGraphql, startReceiver, type Receiver } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let harness: Harness;
let service: RunningServer;
let receiver: Receiver;

beforeAll(async () => {
  harness = await createHarness();
  service = await harness.startPartnerApi();
  await service.whenReady;

  receiver = await startReceiver();
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const create = `mutation ($input: CreateWebhookSubscriptionInput!) {
  createWebhookSubscription(input: $input) {
    webhookSubscription { id callbackUrl status pausedReason pausedAt eventTypes { type version } createdAt }
    webhookSecret
    userErrors { code message field }
  }
}`;
const eventTypes = [{ type: 'referral.converted' }];

test('lists the event types of the interface', async () => {
  const { body } = await send('{ webhookEventTypes { type description versions { version status sunsetOn } } }');
  expect(body.data?.webhookEventTypes).toContainEqual({
    type: 'referral.converted',
    description: expect.any(String),
    versions: [
      { version: '2026-11-01', status: 'CURRENT', sunsetOn: null },
      { version: '2027-02-01', status: 'PREVIEW', sunsetOn: null },
    ],
  });
  expect(JSON.stringify(body)).not.toContain('team_member');
});

test('creates a subscription after a handshake, returns, updates and deletes it', async () => {
  const { body } = await send(create, { input: { callbackUrl: receiver.url, eventTypes } });
  const subscription = {
    id: expect.stringMatching(/^gid:\/\/service\/WebhookSubscription\/\d+$/),
    callbackUrl: receiver.url,
    status: 'ACTIVE',
    pausedReason: null,
    pausedAt: null,
    eventTypes: [{ type: 'referral.converted', version: '2026-11-01' }],
    createdAt: expect.any(String),
  };
  expect(body.data?.createWebhookSubscription).toEqual({
    webhookSubscription: subscription,
    webhookSecret: expect.stringMatching(/^whsec_/),
    userErrors: [],
  });
  const [handshake] = receiver.handshakes;
  expect(handshake?.headers['user-agent']).toBe('Deedwire-Webhooks/0.0.0');
  expect(handshake?.headers).toHaveProperty('x-service-webhook-signature');

  const id = await onlySubscription();
  const read = await send('query ($id: ID!) { webhookSubscription(id: $id) { id callbackUrl } }', { id });
  expect(read.body.data).toEqual({ webhookSubscription: { id, callbackUrl: receiver.url } });

  const update = `mutation ($input: UpdateWebhookSubscriptionInput!) {
    updateWebhookSubscription(input: $input) { webhookSubscription { eventTypes { type } } userErrors { code } }
  }`;
  const updated = await send(update, { input: { id, eventTypes: [{ type: 'referral.created' }] } });
  expect(updated.body.data?.updateWebhookSubscription).toEqual({
    webhookSubscription: { eventTypes: [{ type: 'referral.created' }] },
    userErrors: [],
  });

  const remove = `mutation ($input: DeleteWebhookSubscriptionInput!) {
    deleteWebhookSubscription(input: $input) { deletedWebhookSubscriptionId userErrors { code field } }
  }`;
  const theirs = await send(remove, { input: { id } }, harness.accounts.otherPartner);
  const notFound = { deletedWebhookSubscriptionId: null, userErrors: [{ code: 'NOT_FOUND', field: ['input', 'id'] }] };
  expect(theirs.body.data?.deleteWebhookSubscription).toEqual(notFound);
  const deleted = await send(remove, { input: { id } });
  expect(deleted.body.data?.deleteWebhookSubscription).toEqual({ deletedWebhookSubscriptionId: id, userErrors: [] });
  const again = await send(remove, { input: { id } });
  expect(again.body.data?.deleteWebhookSubscription).toEqual(notFound);
});

describe('createWebhookSubscription', () => {
  beforeAll(() => {
    receiver.onHandshake = (response) => response.end('{"verification_token":"another"}');
  });
  afterAll(() => {
    receiver.onHandshake = echoToken;
  });

  test.each([
    ['an invalid URL', { callbackUrl: 'nowhere' }, 'CALLBACK_URL_INVALID', 'callbackUrl'],
    ['a receiver that returns another token', {}, 'VERIFICATION_MISMATCH', 'callbackUrl'],
    ['an unknown event type', { eventTypes: [{ type: 'referral.lost' }] }, 'EVENT_TYPE_UNKNOWN', 'eventTypes'],
    [
      'an event type of the other interface',
      { eventTypes: [{ type: 'lender.updated' }] },
      'EVENT_TYPE_UNKNOWN',
      'eventTypes',
    ],
    ['an empty list of event types', { eventTypes: [] }, 'EVENT_TYPES_INVALID', 'eventTypes'],
    ['an invalid secret', { webhookSecret: 'secret' }, 'WEBHOOK_SECRET_INVALID', 'webhookSecret'],
  ])('rejects %s and creates nothing', async (_, change, code, field) => {
    const { status, body } = await send(create, { input: { callbackUrl: receiver.url, eventTypes, ...change } });
    expect(status).toBe(200);
    expect(body.data?.createWebhookSubscription).toMatchObject({
      webhookSubscription: null,
      webhookSecret: null,
      userErrors: [{ code, field: expect.arrayContaining(['input', field]) }],
    });
    expect((await send('{ webhookSubscriptions { nodes { id } } }')).body.data).toEqual({
      webhookSubscriptions: { nodes: [] },
    });
  });
});

test('returns no deliveries for an unknown subscription', async () => {
  const query = `{ webhookDeliveries(subscriptionId: "gid://service/WebhookSubscription/1", status: PENDING) {
    nodes { id sequence status event { id type version timestamp } nextAttemptAt
      attempts { number startedAt durationMs responseStatus error } } } }`;
  expect((await send(query)).body).toEqual({
    data: { webhookDeliveries: { nodes: [] } },
    extensions: expect.any(Object),
  });
  expect((await send('{ webhookDelivery(id: "x") { id } }')).body).toEqual({
    data: { webhookDelivery: null },
    extensions: expect.any(Object),
  });
});

async function onlySubscription(): Promise<string> {
  const { body } = await send<{ webhookSubscriptions: { nodes: { id: string }[] } }>(
    '{ webhookSubscriptions { nodes { id } } }',
  );
  const nodes = body.data?.webhookSubscriptions.nodes ?? [];
  expect(nodes).toHaveLength(1);
  return nodes[0]?.id ?? '';
}

function send<Data = Record<string, unknown>>(
  query: string,
  variables: Record<string, unknown> = {},
  { credential } = harness.accounts.partner,
) {
  return postGraphql<Data>(`${service.url}/partners/graphql`, credential, { query, variables });
}
