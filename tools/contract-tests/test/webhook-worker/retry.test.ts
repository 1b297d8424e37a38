import { findWebhookSubscription, updateWebhookSubscription } from '@deedwire/actions';
import { eventually, type Respond, startReceiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

// Concurrent, because most of them wait 5 s for the first retry.

test.concurrent('a failed attempt is repeated on schedule with the same bytes and id and a new timestamp', async ({
  shared,
  customer,
  receiver,
}) => {
  const { secret } = await shared.subscribe(receiver.url, ['order.placed'], customer);
  receiver.onDelivery = (response) => {
    response.writeHead(receiver.deliveries.length === 1 ? 503 : 200).end();
  };
  await shared.place(1, customer);
  await receiver.waitFor(2);

  const [first, second] = receiver.deliveries;
  expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.headers['x-service-webhook-attempt']).toBe('2');
  expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(Number(first?.headers['webhook-timestamp']));
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(5_000);
  verifyWebhook({ prefix: 'X-Service', headers: second?.headers ?? {}, body: second?.body ?? '', secret });

  await eventually(async () => {
    expect(await shared.deliveries(customer)).toMatchObject([
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

test.concurrent.for([
  { retryAfter: '3600 ', seconds: 3_600, advice: /^(?!.*Retry-After)/ },
  { retryAfter: ['3600', '3600'], seconds: 3_600, advice: /^(?!.*Retry-After)/ },
  {
    retryAfter: '1 hour',
    seconds: 5,
    advice: /Its `Retry-After` is neither seconds nor a date, so Deedwire ignored it/,
  },
])(
  'the Retry-After $retryAfter delays the next attempt by $seconds s, and the advice says whether it was ignored',
  async ({ retryAfter, seconds, advice }, { shared, customer, receiver }) => {
    await shared.subscribe(receiver.url, ['order.placed'], customer);
    receiver.onDelivery = (response) => response.writeHead(503, { 'Retry-After': retryAfter }).end();
    await shared.place(1, customer);
    await eventually(async () => {
      const [delivery] = await shared.deliveries(customer);
      const [attempt, next] = delivery?.attempts.toSorted((a, b) => a.number - b.number) ?? [];
      expect(attempt).toMatchObject({ responseStatus: 503, advice: expect.stringMatching(advice) });
      // A busy machine can take seconds for the attempt, and make the next one before it is seen.
      const nextAt = Number(next?.startedAt ?? delivery?.nextAttemptAt);
      const waitMs = nextAt - Number(attempt?.startedAt) - Number(attempt?.durationMs);
      expect(waitMs).toBeGreaterThanOrEqual(seconds * 1_000);
      expect(waitMs).toBeLessThan(seconds * 100_000);
    });
  },
);

test.concurrent.for([
  {
    fails: 'has stopped',
    respond: null,
    advice:
      'Could not connect to the receiver: the connection was refused. Check that the server is running and that no firewall blocks the port.',
  },
  {
    fails: 'ends the connection',
    respond: (response) => response.socket?.end(),
    advice:
      'The receiver closed the connection before the response was complete. See its log at the time of the attempt.',
  },
  {
    fails: 'resets the connection',
    respond: (response) => response.socket?.resetAndDestroy(),
    advice:
      'The connection to the receiver was reset before the response was complete. See its log at the time of the attempt.',
  },
] satisfies { fails: string; respond: Respond | null; advice: string }[])(
  'the advice for an attempt at a receiver that $fails names the cause',
  async ({ respond, advice }, { shared, customer, receiver }) => {
    await shared.subscribe(receiver.url, ['order.placed'], customer);
    if (respond === null) await receiver.close();
    else receiver.onDelivery = respond;
    await shared.place(1, customer);
    await eventually(async () => {
      const [delivery] = await shared.deliveries(customer);
      expect(delivery?.attempts.at(-1)).toMatchObject({
        number: 1,
        error: 'CONNECTION_FAILED',
        responseStatus: null,
        advice,
      });
    });
  },
);

test.concurrent('a receiver that does not respond has a TIMEOUT attempt and a next attempt', async ({
  shared,
  customer,
  receiver,
}) => {
  await shared.subscribe(receiver.url, ['order.placed'], customer, 5);
  receiver.onDelivery = () => {};
  await shared.place(1, customer);
  await eventually(async () => {
    const [delivery] = await shared.deliveries(customer);
    expect(delivery).toMatchObject({ status: 'PENDING', nextAttemptAt: expect.any(Date) });
    expect(delivery?.attempts.at(-1)).toMatchObject({ number: 1, responseStatus: null, error: 'TIMEOUT' });
  });
});

test.concurrent('an address in WEBHOOK_DENIED_RANGES of the worker is not called', async ({ harness, receiver }) => {
  await harness.startWorker({ WEBHOOK_DENIED_RANGES: { includes: (address) => address === '127.0.0.1' } });
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(1);
  await eventually(async () => {
    const [delivery] = await harness.deliveries();
    expect(delivery?.status).toBe('PENDING');
    expect(delivery?.attempts.at(-1)).toMatchObject({ number: 1, responseStatus: null, error: 'ADDRESS_FORBIDDEN' });
  });
  expect(receiver.deliveries).toEqual([]);
});

test.concurrent('410 pauses the subscription and keeps its events, and another URL resumes it', async ({
  shared,
  customer,
  receiver,
}) => {
  const { id } = await shared.subscribe(receiver.url, ['order.placed'], customer);
  receiver.onDelivery = (response) => {
    response.writeHead(410).end();
  };
  await shared.place(1, customer);
  await eventually(async () => {
    expect(await findWebhookSubscription(shared.customerApi, customer, id)).toMatchObject({
      status: 'PAUSED',
      pausedReason: 'GONE',
    });
  });
  await shared.place(1, customer);
  await eventually(async () => expect(await shared.deliveries(customer)).toHaveLength(2));
  expect(await shared.deliveries(customer)).toMatchObject([{ nextAttemptAt: null }, { nextAttemptAt: null }]);

  const successor = await startReceiver();
  try {
    const { userErrors } = await updateWebhookSubscription(shared.customerApi, customer, {
      id,
      callbackUrl: successor.url,
    });
    expect(userErrors).toEqual([]);
    await successor.waitFor(2);
    expect(receiver.deliveries).toHaveLength(1);
  } finally {
    await successor.close();
  }
});

// Notifications need a direct connection: see `scripts/test-pooler.ts`.
const isWithoutNotifications = process.env['TEST_POOLER_DIRECT'] === 'off';

test
  .skipIf(isWithoutNotifications)
  .concurrent('a commit wakes the worker if polling is disabled', async ({ harness, receiver }) => {
    await harness.startWorker({ POLL_INTERVAL_MS: 0 });
    await harness.subscribe(receiver.url, ['order.placed']);
    await harness.place(1);
    await receiver.waitFor(1);
    // A retry needs no notification.
    receiver.onDelivery = (response) => {
      response.writeHead(receiver.deliveries.length === 2 ? 500 : 200).end();
    };
    await harness.place(1);
    await receiver.waitFor(3);
    expect(receiver.deliveries[2]?.headers['x-service-webhook-attempt']).toBe('2');
  });
