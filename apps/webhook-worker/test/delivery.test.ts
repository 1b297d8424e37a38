import { deleteWebhookSubscription, findWebhookSubscription, updateWebhookSubscription } from '@deedwire/actions';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { eventually } from './support/eventually.ts';
import { createHarness, type Harness } from './support/harness.ts';
import { startReceiver, type Receiver } from './support/receiver.ts';

let harness: Harness;
let receiver: Receiver;

beforeEach(async () => {
  [harness, receiver] = await Promise.all([createHarness(), startReceiver()]);
});

afterEach(async () => {
  await harness.close();
  await receiver.close();
});

test('a conversion arrives once, as published, signed with the secret of the subscription', async () => {
  await harness.startWorker();
  const { id, secret } = await harness.subscribe(receiver.url, ['referral.converted']);
  const [referralId = ''] = await harness.refer(1);
  await harness.convert(referralId);
  await receiver.waitFor(1);

  const [request] = receiver.requests;
  const { headers, body } = request ?? {};
  expect(JSON.parse(String(body))).toEqual({
    id: expect.stringMatching(/^gid:\/\/service\/WebhookEvent\/\d+$/),
    type: 'referral.converted',
    version: '2026-11-01',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    data: {
      referralId,
      externalReference: null,
      matterId: expect.stringMatching(/^gid:\/\/service\/Matter\/\d+$/),
      convertedAt: expect.stringMatching(/Z$/),
    },
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Deedwire-Webhooks/test',
    'x-service-webhook-event': 'referral.converted',
    'x-service-webhook-event-version': '2026-11-01',
    'x-service-webhook-subscription-id': id,
    'x-service-webhook-attempt': '1',
    'x-service-webhook-sequence': '1',
  });
  expect(verifyWebhook({ headers: headers ?? {}, body: body ?? '', secret }).id).toMatch(
    /^gid:\/\/service\/WebhookDelivery\/\d+$/,
  );

  await eventually(async () => {
    expect(await harness.deliveries()).toMatchObject([
      {
        status: 'DELIVERED',
        sequence: 1,
        nextAttemptAt: null,
        attempts: [{ number: 1, responseStatus: 204, error: null }],
      },
    ]);
  });
  expect(receiver.requests).toHaveLength(1);
});

test('a failed attempt is tried again on schedule, with the same bytes and id and a fresh timestamp', async () => {
  await harness.startWorker();
  const { secret } = await harness.subscribe(receiver.url, ['referral.created']);
  receiver.answer = (response) => {
    response.writeHead(receiver.requests.length === 1 ? 503 : 200).end();
  };
  await harness.refer(1);
  await receiver.waitFor(2);

  const [first, second] = receiver.requests;
  expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.headers['x-service-webhook-attempt']).toBe('2');
  expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(Number(first?.headers['webhook-timestamp']));
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(5_000);
  verifyWebhook({ headers: second?.headers ?? {}, body: second?.body ?? '', secret });

  await eventually(async () => {
    expect(await harness.deliveries()).toMatchObject([
      {
        status: 'DELIVERED',
        attempts: [
          { number: 2, responseStatus: 200 },
          { number: 1, responseStatus: 503 },
        ],
      },
    ]);
  });
});

test('a receiver that never answers has its attempt recorded, and is shown when the next is due', async () => {
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['referral.created']);
  receiver.answer = () => {};
  await harness.refer(1);
  await eventually(async () => {
    expect(await harness.deliveries()).toMatchObject([
      {
        status: 'PENDING',
        nextAttemptAt: expect.any(Date),
        attempts: [{ number: 1, responseStatus: null, error: 'TIMEOUT' }],
      },
    ]);
  });
});

test('410 pauses the subscription, keeps its events, and another URL takes it up again', async () => {
  await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['referral.created']);
  receiver.answer = (response) => {
    response.writeHead(410).end();
  };
  await harness.refer(1);
  await eventually(async () => {
    expect(await findWebhookSubscription(harness.api, harness.partner, id)).toMatchObject({
      status: 'PAUSED',
      pausedReason: 'GONE',
    });
  });
  await harness.refer(1);
  await eventually(async () => expect(await harness.deliveries()).toHaveLength(2));
  expect(await harness.deliveries()).toMatchObject([{ nextAttemptAt: null }, { nextAttemptAt: null }]);

  const successor = await startReceiver();
  try {
    const { userErrors } = await updateWebhookSubscription(harness.api, harness.partner, {
      id,
      callbackUrl: successor.url,
    });
    expect(userErrors).toEqual([]);
    await successor.waitFor(2);
    expect(receiver.requests).toHaveLength(1);
  } finally {
    await successor.close();
  }
});

test('deliveries of a subscription are counted without gaps, however many workers fan out', async () => {
  await Promise.all([harness.startWorker(), harness.startWorker(), harness.startWorker()]);
  await harness.subscribe(receiver.url, ['referral.created']);
  await Promise.all([harness.refer(20), harness.refer(20), harness.refer(20)]);
  await receiver.waitFor(60);
  await eventually(async () => {
    const deliveries = await harness.deliveries();
    expect(deliveries.filter(({ status }) => status === 'DELIVERED')).toHaveLength(60);
  });
  const deliveries = await harness.deliveries();
  expect(deliveries.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, index) => index + 1),
  );
  expect(receiver.requests).toHaveLength(60);
});

test('with polling switched off a commit wakes the worker', async () => {
  await harness.startWorker({ POLL_INTERVAL_MS: 0 });
  await harness.subscribe(receiver.url, ['referral.created']);
  await harness.refer(1);
  await receiver.waitFor(1);
  // And a retry is due by itself.
  receiver.answer = (response) => {
    response.writeHead(receiver.requests.length === 2 ? 500 : 200).end();
  };
  await harness.refer(1);
  await receiver.waitFor(3);
  expect(receiver.requests[2]?.headers['x-service-webhook-attempt']).toBe('2');
});

test('without a notification polling finds the event', async () => {
  await harness.startWorker({ POLL_INTERVAL_MS: 200 });
  await harness.subscribe(receiver.url, ['referral.created']);
  harness.api.notify = () => {};
  await harness.refer(1);
  await receiver.waitFor(1);
  expect(receiver.requests).toHaveLength(1);
});

test('a deleted subscription receives nothing more, and its deliveries are gone', async () => {
  const { id } = await harness.subscribe(receiver.url, ['referral.created']);
  const other = await startReceiver();
  try {
    await harness.subscribe(other.url, ['referral.created']);
    await harness.refer(1);
    expect(await deleteWebhookSubscription(harness.api, harness.partner, { id })).toMatchObject({ userErrors: [] });
    await harness.startWorker();
    await other.waitFor(1);
    expect(await harness.deliveries()).toHaveLength(1);
    expect(receiver.requests).toEqual([]);
  } finally {
    await other.close();
  }
});

test('stopping waits for what is under way, and records it', async () => {
  const worker = await harness.startWorker();
  await harness.subscribe(receiver.url, ['referral.created']);
  receiver.answer = (response) => {
    setTimeout(() => response.writeHead(200).end(), 500);
  };
  await harness.refer(1);
  await receiver.waitFor(1);
  await harness.stopWorker(worker);
  expect(await harness.deliveries()).toMatchObject([{ status: 'DELIVERED' }]);
});
