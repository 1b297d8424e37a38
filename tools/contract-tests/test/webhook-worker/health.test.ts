import { pauseWebhookSubscription, resumeWebhookSubscription } from '@deedwire/actions';
import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually, missing } from '@deedwire/testing';
import { expect } from 'vitest';
import { createInterfaceClient, startInterfaces } from '../support/interface-client.ts';
import { test } from './fixtures.ts';

interface Shown {
  health: {
    lastFailure: object | null;
    state: string;
    consecutiveFailures: number;
    pendingCount: number;
    breakerOpenUntil: string | null;
  };
  statistics: {
    deliveredCount: number;
    failedAttemptCount: number;
    failedCount: number;
    longestWaitSeconds: number | null;
  }[];
}

/** Reads health and statistics over HTTP. */
async function startApi(harness: Harness): Promise<(id: string) => Promise<Shown>> {
  const { request } = createInterfaceClient(await startInterfaces(harness, ['customer']), 'customer', '2026-11-01');
  const query = `query ($id: ID!) { webhookSubscription(id: $id) {
    health { state consecutiveFailures failingSince lastFailureAt lastFailure { responseStatus deliveryId } lastDeliveredAt breakerOpenUntil pendingCount }
    statistics(hours: 2) { deliveredCount failedAttemptCount failedCount longestWaitSeconds }
  } }`;
  return (id) => request<Shown>(query, { id });
}

/** Of two hours, because a test can begin in one and end in the next. */
const sum = ({ statistics }: Shown, count: 'deliveredCount' | 'failedAttemptCount' | 'failedCount'): number =>
  statistics.reduce((total, hour) => total + hour[count], 0);

const attempts = async (harness: Harness): Promise<{ succeeded: number; failed: number }> => {
  const [counted] = await harness.sql(
    `select count(*) filter (where response_status = 204)::int as succeeded, count(*) filter (where response_status <> 204)::int as failed
     from webhook_attempt`,
  );
  return counted as { succeeded: number; failed: number };
};

/** The metrics of the worker: how many receivers have a breaker in each state. */
const breakers = async (harness: Harness): Promise<Record<string, number>> =>
  Object.fromEntries(
    [...(await harness.metrics()).matchAll(/^deedwire_webhook_breakers\{state="(\w+)"\} (\d+)$/gm)].map(
      ([, state, count]) => [state, Number(count)],
    ),
  );

test('health and metrics follow a receiver that fails, is down, works again and is gone', async ({
  harness,
  receiver,
}) => {
  const read = await startApi(harness);
  const worker = await harness.startWorker();
  expect(await breakers(harness)).toEqual({ closed: 0, open: 0, half_open: 0 });
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(3);
  await receiver.waitFor(3);
  await eventually(async () =>
    expect(await read(id)).toMatchObject({
      health: { state: 'HEALTHY', consecutiveFailures: 0, failingSince: null, pendingCount: 0 },
    }),
  );

  // Without another attempt before they are seen.
  receiver.onDelivery = (response) => void response.writeHead(500, { 'Retry-After': '3600' }).end();
  await harness.place(2);
  await eventually(async () =>
    expect(await read(id)).toMatchObject({
      health: {
        state: 'RETRYING',
        consecutiveFailures: 2,
        failingSince: expect.any(String),
        lastFailure: { responseStatus: 500, deliveryId: expect.stringContaining('/WebhookDelivery/') },
        breakerOpenUntil: null,
        pendingCount: 2,
      },
    }),
  );
  receiver.onDelivery = (response) => void response.writeHead(500).end();
  await harness.place(10);
  await eventually(async () =>
    expect(await read(id)).toMatchObject({
      health: { state: 'FAILING', breakerOpenUntil: expect.any(String), pendingCount: 12 },
    }),
  );
  // A probe follows after 5 s.
  const probed = Promise.withResolvers<void>();
  receiver.onDelivery = (response) => void probed.promise.then(() => response.writeHead(204).end());
  await eventually(async () => expect(await breakers(harness)).toEqual({ closed: 0, open: 1, half_open: 0 }));
  await eventually(async () => expect(await breakers(harness)).toEqual({ closed: 0, open: 0, half_open: 1 }));

  probed.resolve();
  await eventually(async () =>
    expect(await read(id)).toMatchObject({
      health: {
        state: 'HEALTHY',
        consecutiveFailures: 0,
        lastFailureAt: null,
        lastFailure: null,
        breakerOpenUntil: null,
      },
    }),
  );
  await eventually(async () => expect(await breakers(harness)).toEqual({ closed: 1, open: 0, half_open: 0 }));
  receiver.onDelivery = (response) => void response.writeHead(410).end();
  await harness.place(1);
  await eventually(async () =>
    expect(await read(id)).toMatchObject({
      health: { state: 'PAUSED', consecutiveFailures: 0, lastFailure: { responseStatus: 410 } },
    }),
  );
  await harness.stopWorker(worker);
  const shown = await read(id);
  const counted = await attempts(harness);
  expect([sum(shown, 'deliveredCount'), sum(shown, 'failedAttemptCount')]).toEqual([counted.succeeded, counted.failed]);
  expect(shown).toMatchObject({ health: { lastDeliveredAt: expect.stringMatching(/:00\.000Z$/) } });
  expect(shown.statistics.some(({ longestWaitSeconds }) => longestWaitSeconds !== null)).toBe(true);
});

test('statistics count each attempt once while shards move from worker to worker', async ({ harness, receiver }) => {
  const read = await startApi(harness);
  const workers = [await harness.startWorker()];
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => {
    response.writeHead(receiver.deliveries.length % 5 === 0 ? 500 : 204).end();
  };
  for (let round = 1; round <= 3; round += 1) {
    await harness.place(20);
    workers.push(await harness.startWorker());
    await receiver.waitFor(20 * round);
    await harness.stopWorker(workers.shift() ?? missing());
  }
  for (const worker of workers) await harness.stopWorker(worker);
  const shown = await read(id);
  const counted = await attempts(harness);
  expect(counted.failed).toBeGreaterThan(0);
  expect([sum(shown, 'deliveredCount'), sum(shown, 'failedAttemptCount')]).toEqual([counted.succeeded, counted.failed]);
});

test('a worker that stops writes its counts before it waits for receivers that do not respond', async ({
  harness,
  receiver,
}) => {
  const read = await startApi(harness);
  const worker = await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(3);
  await receiver.waitFor(3);
  await eventually(async () => expect((await read(id)).health.pendingCount).toBe(0));
  const waiting = Promise.withResolvers<void>();
  receiver.onDelivery = (response) => void waiting.promise.then(() => response.writeHead(204).end());
  await harness.place(1);
  await receiver.waitFor(4);
  const stopping = harness.stopWorker(worker);
  await eventually(async () =>
    expect(await read(id)).toMatchObject({
      health: { pendingCount: 1 },
      statistics: expect.arrayContaining([expect.objectContaining({ deliveredCount: 3 })]),
    }),
  );
  waiting.resolve();
  await stopping;
  expect(sum(await read(id), 'deliveredCount')).toBe(4);
});

test('an attempt that is the last one counts as a failure of its delivery', async ({ harness, receiver }) => {
  const read = await startApi(harness);
  const worker = await harness.startWorker();
  const { id } = await harness.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => void response.writeHead(500).end();
  const { customerApi, accounts } = harness;
  await pauseWebhookSubscription(customerApi, accounts.customer, { id });
  await harness.place(1);
  await eventually(async () =>
    expect(await harness.sql('update webhook_pending_delivery set attempts = 14 returning 1')).toHaveLength(1),
  );
  expect((await read(id)).health).toMatchObject({ state: 'PAUSED', pendingCount: 1 });
  await resumeWebhookSubscription(customerApi, accounts.customer, { id });
  await eventually(async () => expect(await harness.sql('select from webhook_failed_delivery')).toHaveLength(1));
  await harness.stopWorker(worker);
  const shown = await read(id);
  expect([sum(shown, 'failedAttemptCount'), sum(shown, 'failedCount'), sum(shown, 'deliveredCount')]).toEqual([
    1, 1, 0,
  ]);
  expect(shown.health).toMatchObject({ state: 'RETRYING', pendingCount: 0, lastDeliveredAt: null });
});
