import type { IncomingHttpHeaders } from 'node:http';
import { callOperator, startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { eventually, type Receiver, startReceiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';

// What a support engineer and a partner do after a receiver has failed for three days, the time after which deliveries are given
// up. The apps are processes; stored times are moved back. The tests are steps: each needs those before it.

const events = 6;
let t: TestSystem;
let receiver: Receiver;
/** Those that the receiver accepts. */
let secrets: string[];
let subscriptionId: string;

beforeAll(async () => {
  t = await startTestSystem({ appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '1000' } } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await t.close();
  await receiver.close();
});

const run = <Data extends object>(text: string, variables: object = {}): Promise<Data> =>
  t.partner.request<Data, object>(parse(text), variables);

/** How many referrals there are. */
let referred = 0;

async function refer(count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    expect(await run('mutation { createReferral(input: { clientName: "Ada" }) { userErrors { code } } }')).toEqual({
      createReferral: { userErrors: [] },
    });
    referred += 1;
  }
}

function isSigned(
  { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
  secret: string | readonly string[] = secrets,
): boolean {
  try {
    verifyWebhook({ headers, body, secret });
    return true;
  } catch {
    return false;
  }
}

interface Deliveries {
  webhookDeliveries: { nodes: { id: string; status: string; attemptCount: number }[] };
}

async function deliveries(arguments_: string): Promise<Deliveries['webhookDeliveries']['nodes']> {
  const query = `{ webhookDeliveries(first: 100, ${arguments_}) { nodes { id status attemptCount } } }`;
  return (await run<Deliveries>(query)).webhookDeliveries.nodes;
}

test('a receiver whose disk is full fails every attempt', async () => {
  type Subscribed = { createWebhookSubscription: { webhookSubscription: { id: string }; webhookSecret: string } };
  const { createWebhookSubscription } = await run<Subscribed>(
    `mutation ($input: CreateWebhookSubscriptionInput!) {
      createWebhookSubscription(input: $input) { webhookSubscription { id } webhookSecret } }`,
    { input: { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.created' }] } },
  );
  subscriptionId = createWebhookSubscription.webhookSubscription.id;
  secrets = [createWebhookSubscription.webhookSecret];
  receiver.onDelivery = (response) => response.writeHead(500, { 'X-Host': 'hooks-2' }).end('no space left on device');
  await refer(events);
  await receiver.waitFor(events);
  await eventually(async () => expect(await deliveries('status: PENDING')).toHaveLength(events));
});

test('its deliveries are given up after 15 attempts', async () => {
  await t.system.apps['webhook-worker'].stop();
  // As if the attempts 2 to 14 had failed in the same way.
  await t.sql(`update webhook_attempt set started_at = started_at - interval '74 hours'`);
  await t.sql(
    `insert into webhook_attempt
     select delivery_id, later, subscription_id, interface, started_at + later * interval '4 hours', duration_ms,
       response_status, error
     from webhook_attempt
     cross join generate_series(2, 14) later
     where number = 1`,
  );
  await t.sql('update webhook_pending_delivery set attempts = 14, due_at = now()');
  await t.sql(
    `update webhook_receiver_state
     set consecutive_failures = 0, breaker_open_until = null, breaker_probes = 0,
       failing_since = now() - interval '74 hours', last_failure_at = now() - interval '10 hours'`,
  );
  await t.system.restart('webhook-worker');
  await eventually(async () => {
    const failed = await deliveries('status: FAILED');
    expect(failed.map(({ attemptCount }) => attemptCount)).toEqual(Array(events).fill(15));
  });
});

test('the owner sees what came back and what to do', async () => {
  const [{ id } = { id: '' }] = await deliveries('status: FAILED, eventType: "referral.created"');
  const query = `query ($id: ID!) {
    webhookDelivery(id: $id) {
      payload
      attempts(first: 1) {
        number responseStatus advice exchange { responseBody responseHeaders { name value } }
      }
    }
  }`;
  // The details are stored a moment after the result.
  const { payload } = await eventually(async () => {
    const { webhookDelivery } = await run<{ webhookDelivery: { payload: string } }>(query, { id });
    expect(webhookDelivery).toMatchObject({
      attempts: [
        {
          number: 15,
          responseStatus: 500,
          advice: expect.stringMatching(/log/i),
          exchange: {
            responseBody: 'no space left on device',
            responseHeaders: expect.arrayContaining([{ name: 'x-host', value: 'hooks-2' }]),
          },
        },
      ],
    });
    return webhookDelivery;
  });
  expect(receiver.deliveries.map(({ body }) => body.toString())).toContain(payload);
});

const replay = `mutation ($input: ReplayWebhookEventsInput!) {
  replayWebhookEvents(input: $input) {
    webhookReplay { id } estimate { count isLowerBound byType { type count } } userErrors { code }
  }
}`;

test('a dry run counts what failed and sends nothing', async () => {
  receiver.onDelivery = (response, request) => response.writeHead(isSigned(request) ? 204 : 401).end();
  receiver.deliveries.length = 0;
  expect(await run(replay, { input: { subscriptionId, dryRun: true } })).toEqual({
    replayWebhookEvents: {
      webhookReplay: null,
      estimate: { count: events, isLowerBound: false, byType: [{ type: 'referral.created', count: events }] },
      userErrors: [],
    },
  });
  expect(await deliveries('status: FAILED')).toHaveLength(events);
  expect(receiver.deliveries).toEqual([]);
});

test('the replay delivers each of them once, with the id that it had', async () => {
  const failed = await deliveries('status: FAILED');
  type Replayed = { replayWebhookEvents: { webhookReplay: { id: string } } };
  const { replayWebhookEvents } = await run<Replayed>(replay, { input: { subscriptionId } });
  await eventually(async () => {
    expect(
      await run('query ($id: ID!) { webhookReplay(id: $id) { status queuedCount skippedCount } }', {
        id: replayWebhookEvents.webhookReplay.id,
      }),
    ).toEqual({ webhookReplay: { status: 'COMPLETED', queuedCount: events, skippedCount: 0 } });
    expect(await deliveries('status: DELIVERED')).toHaveLength(events);
  });
  expect(receiver.deliveries).toHaveLength(events);
  expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set(failed.map(({ id }) => id)),
  );
  expect(receiver.deliveries.map(({ headers }) => headers['x-service-webhook-replay'])).toEqual(
    Array(events).fill('true'),
  );
  // The details are stored a moment after the result.
  const query = 'query ($id: ID!) { webhookDelivery(id: $id) { attempts(first: 2) { number exchange { replayId } } } }';
  await eventually(async () =>
    expect(await run(query, { id: failed[0]?.id })).toMatchObject({
      webhookDelivery: {
        attempts: [{ number: 16, exchange: { replayId: replayWebhookEvents.webhookReplay.id } }, { number: 15 }],
      },
    }),
  );
});

test('the rotation of the secret loses no delivery', async () => {
  receiver.deliveries.length = 0;
  let isReferring = true;
  const referring = (async () => {
    while (isReferring) await refer(1);
  })();
  await receiver.waitFor(5);
  type Rotated = { rotateWebhookSecret: { webhookSecret: string } };
  const { rotateWebhookSecret } = await run<Rotated>(
    `mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { webhookSecret } }`,
    { input: { id: subscriptionId } },
  );
  const { webhookSecret } = rotateWebhookSecret;
  // At most 16 requests are in flight when the worker learns of the rotation.
  await eventually(() => {
    const last = receiver.deliveries.slice(-16).filter((delivery) => isSigned(delivery, webhookSecret));
    expect(last).toHaveLength(16);
  });
  secrets = [webhookSecret];
  await receiver.waitFor(receiver.deliveries.length + 5);
  isReferring = false;
  await referring;
  await eventually(async () =>
    expect(
      await t.sql(
        `select count(*) filter (where response_status = 204)::int as delivered,
           count(*) filter (where response_status <> 204 and number = 1)::int as failed_at_first
         from webhook_attempt`,
      ),
    ).toEqual([{ delivered: referred, failed_at_first: events }]),
  );
});

test('the audit log tells the story', async () => {
  const { stdout } = await callOperator(
    { DATABASE_URL: await t.database.urlFor('operator') },
    'audit',
    'list',
    '--limit',
    '200',
    '--json',
  );
  const entries: { action: string; subject: string }[] = JSON.parse(stdout);
  expect(entries.filter(({ subject }) => subject === subscriptionId).map(({ action }) => action)).toEqual([
    'webhook_subscription.rotate',
    'webhook_subscription.replay',
    'webhook_subscription.create',
  ]);
});
