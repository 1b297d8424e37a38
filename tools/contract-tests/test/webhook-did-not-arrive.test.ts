import { addTeamMember } from '@deedwire/actions';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/harness';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { eventually, missing, type Receiver, startReceiver } from '@deedwire/testing';
import { buildSchema, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documents } from './support/did-not-arrive-page.ts';

const schemas = [lender, partner].flatMap(({ sdl, versions }) =>
  versions.map(({ version }) => buildSchema(sdl(version))),
);

test('the page has the operations that the tests below run, and they are valid at every version', () => {
  expect(Object.keys(documents)).toEqual([
    'Health',
    'SendTest',
    'FindDeliveries',
    'FindDeliveriesOfRecord',
    'Subscriptions',
    'ExplainDelivery',
    'OlderAttempts',
    'RetryDelivery',
    'SendPending',
    'ReplayFailed',
    'ReplayProgress',
  ]);
  for (const schema of schemas)
    for (const text of Object.values(documents)) expect(validate(schema, parse(text))).toEqual([]);
});

describe.each([
  { name: 'lender', eventType: 'team_member.added' },
  { name: 'partner', eventType: 'referral.created' },
] as const)('the $name interface', ({ name, eventType }) => {
  let t: SharedSystem;
  let receiver: Receiver;
  let recordId: string;
  const startedAt = new Date(Date.now() - 60_000).toISOString();

  beforeAll(async () => {
    t = await joinSharedSystem();
    receiver = await startReceiver();
    receiver.onDelivery = (response) => response.writeHead(404, { Server: 'test-proxy' }).end('No such path');
    const subscribe = `mutation ($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { userErrors { code } } }`;
    const input = { callbackUrl: receiver.url, eventTypes: [{ type: eventType }] };
    await run(subscribe, { input });
    if (name === 'partner') {
      const { createReferral } = await run<{ createReferral: { referral: { id: string } } }>(
        'mutation { createReferral(input: { clientName: "Ada" }) { referral { id } } }',
        {},
      );
      recordId = createReferral.referral.id;
    } else {
      const { id } = await addTeamMember(t.operator, {
        lenderId: t.accounts.lender.id,
        firstName: 'Dai',
        lastName: 'Wei',
        email: 'dai.wei@northwind.example',
      });
      recordId = id;
    }
    await receiver.waitFor(1);
  });
  afterAll(async () => {
    await receiver.close();
    await t.close();
  });

  const run = <Data extends object>(text: string, variables: object): Promise<Data> =>
    t[name].request<Data, object>(parse(text), variables);

  async function findDelivery(): Promise<string> {
    const found = await run<{ webhookDeliveries: { nodes: { id: string; event: object }[]; pageInfo: object } }>(
      documents['FindDeliveries'] ?? '',
      { eventType, since: startedAt },
    );
    expect(found.webhookDeliveries.nodes).toEqual([
      {
        id: expect.stringMatching(/^gid:/),
        subscriptionId: expect.stringMatching(/^gid:/),
        createdAt: expect.any(String),
        status: 'PENDING',
        attemptCount: expect.any(Number),
        event: { id: expect.any(String), timestamp: expect.any(String) },
      },
    ]);
    return found.webhookDeliveries.nodes[0]?.id ?? missing();
  }

  test('finds the delivery by its type and time, and by its record, and nothing later', async () => {
    const id = await findDelivery();
    expect(await run(documents['FindDeliveriesOfRecord'] ?? '', { recordId })).toMatchObject({
      webhookDeliveries: { nodes: [{ id, event: { type: eventType } }] },
    });
    const later = { eventType, since: new Date(Date.now() + 60_000).toISOString() };
    expect(await run(documents['FindDeliveries'] ?? '', later)).toEqual({
      webhookDeliveries: { nodes: [], pageInfo: { endCursor: null, hasNextPage: false } },
    });
  });

  test('shows the subscription with its event types', async () => {
    expect(await run(documents['Subscriptions'] ?? '', {})).toMatchObject({
      webhookSubscriptions: { nodes: [{ status: 'ACTIVE', eventTypes: [{ type: eventType }] }] },
    });
  });

  test('says why the delivery is late, what came back and what to do, and has the exact payload', async () => {
    const id = await findDelivery();
    await eventually(async () => {
      expect(await run(documents['ExplainDelivery'] ?? '', { id })).toMatchObject({
        webhookDelivery: {
          status: 'PENDING',
          delay: {
            reason: expect.stringMatching(/^(?:RETRY_SCHEDULED|WAITING_FOR_TURN)$/),
            message: expect.any(String),
          },
          subscription: { callbackUrl: receiver.url },
          attempts: expect.arrayContaining([
            expect.objectContaining({
              number: 1,
              responseStatus: 404,
              advice: expect.stringContaining('The path does not exist'),
              exchange: expect.objectContaining({
                callbackUrl: receiver.url,
                remoteAddress: '127.0.0.1',
                responseHeaders: expect.arrayContaining([{ name: 'server', value: 'test-proxy' }]),
                responseBody: 'No such path',
              }),
            }),
          ]),
          payload: receiver.deliveries[0]?.body.toString(),
        },
      });
    });
    expect(await run(documents['OlderAttempts'] ?? '', { id, before: 2 })).toMatchObject({
      webhookDelivery: { attempts: [{ number: 1, responseStatus: 404 }] },
    });
    expect(await run(documents['OlderAttempts'] ?? '', { id, before: 1 })).toEqual({
      webhookDelivery: { attempts: [] },
    });
  });

  /** Counts what has failed, which is nothing, and replays it. */
  async function replay(): Promise<void> {
    const { webhookDeliveries } = await run<{ webhookDeliveries: { nodes: { subscriptionId: string }[] } }>(
      documents['FindDeliveries'] ?? '',
      { eventType, since: startedAt },
    );
    const range = { subscriptionId: webhookDeliveries.nodes[0]?.subscriptionId, since: startedAt };
    const replayed = async (dryRun: boolean) =>
      run<{ replayWebhookEvents: { webhookReplay: { id: string } | null } }>(documents['ReplayFailed'] ?? '', {
        ...range,
        dryRun,
      });
    expect(await replayed(true)).toEqual({
      replayWebhookEvents: {
        estimate: { count: 0, isLowerBound: false, seconds: 0 },
        webhookReplay: null,
        userErrors: [],
      },
    });
    const { replayWebhookEvents } = await replayed(false);
    const id = replayWebhookEvents.webhookReplay?.id;
    expect(await run(documents['ReplayProgress'] ?? '', { id })).toMatchObject({
      webhookReplay: { queuedCount: 0, skippedCount: 0 },
    });
  }

  test('sends what waits before its next attempt is due', async () => {
    const { webhookSubscriptions } = await run<{ webhookSubscriptions: { nodes: { id: string }[] } }>(
      documents['Subscriptions'] ?? '',
      {},
    );
    const before = receiver.deliveries.length;
    const subscriptionId = webhookSubscriptions.nodes[0]?.id ?? missing();
    expect(await run(documents['SendPending'] ?? '', { subscriptionId })).toEqual({
      sendPendingWebhookDeliveries: {
        webhookSubscription: { status: 'ACTIVE', health: { pendingCount: 1 } },
        userErrors: [],
      },
    });
    await receiver.waitFor(before + 1);
  });

  test('sends the delivery again before its next attempt is due', async () => {
    const id = await findDelivery();
    await replay();
    const before = receiver.deliveries.length;
    receiver.onDelivery = (response) => response.writeHead(200).end();
    expect(await run(documents['RetryDelivery'] ?? '', { id })).toMatchObject({
      retryWebhookDelivery: { webhookDelivery: { status: expect.any(String) }, userErrors: [] },
    });
    await receiver.waitFor(before + 1);
    await eventually(async () => {
      expect(await run(documents['ExplainDelivery'] ?? '', { id })).toMatchObject({
        webhookDelivery: { status: 'DELIVERED' },
      });
    });
  });

  test('sends a test event, whose delivery can be found', async () => {
    const { webhookSubscriptions } = await run<{ webhookSubscriptions: { nodes: { id: string }[] } }>(
      documents['Subscriptions'] ?? '',
      {},
    );
    const subscriptionId = webhookSubscriptions.nodes[0]?.id ?? missing();
    const send = async (type: string) => {
      const { sendTestWebhookEvent } = await run<{ sendTestWebhookEvent: { webhookEventId: string | null } }>(
        documents['SendTest'] ?? '',
        { subscriptionId, eventType: type },
      );
      return sendTestWebhookEvent;
    };
    const { webhookEventId } = await send(eventType);
    await eventually(() =>
      expect(
        receiver.deliveries.map(({ headers, body }) => [
          headers['x-service-webhook-test'],
          JSON.parse(body.toString()).id,
        ]),
      ).toContainEqual(['true', webhookEventId]),
    );
    const { webhookDeliveries } = await run<{ webhookDeliveries: { nodes: { event: object }[] } }>(
      documents['FindDeliveries'] ?? '',
      { eventType, since: startedAt },
    );
    expect(webhookDeliveries.nodes[0]?.event).toMatchObject({ id: webhookEventId });
    expect(await send('webhook.test')).toEqual({
      webhookEventId: null,
      userErrors: [{ code: 'NOT_SUBSCRIBED', message: expect.stringContaining(`It receives ${eventType}.`) }],
    });
  });
});
