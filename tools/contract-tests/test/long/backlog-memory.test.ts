import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { startPostgres } from '@deedwire/embedded-postgres';
import { type Client, startReceiver, type Receiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as operations from '../support/webhook-operations.ts';

/** Queued events and pending deliveries, half each. */
const backlogs = [0, 200_000, 2_000_000];
const subscriptionsPerAccount = 20;
const bodyBytes = 2_000;
const measuredMs = 40_000;

let t: TestSystem;
let receiver: Receiver;

beforeAll(async () => {
  t = await startTestSystem({ server: await startPostgres() });
  // Slow enough that the backlog outlasts the measurement.
  receiver = await startReceiver();
  receiver.onDelivery = (response) => void setTimeout(() => response.writeHead(204).end(), 1_000);
  for (const client of [t.customer, t.otherCustomer]) await subscribe(client);
});

afterAll(async () => {
  await t.close();
  await receiver.close();
});

async function subscribe(client: Client): Promise<void> {
  const input = { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] };
  for (let subscription = 0; subscription < subscriptionsPerAccount; subscription += 1) {
    const { createWebhookSubscription } = await client.request(operations.SubscribeDocument, { input });
    expect(createWebhookSubscription.userErrors).toEqual([]);
  }
}

async function replaceBacklog(rows: number): Promise<void> {
  await t.sql(
    'truncate webhook_event_queue, webhook_pending_delivery, webhook_delivery, webhook_payload, webhook_event',
  );
  await t.sql(
    `insert into webhook_event (account_id, interface, event_type, snapshot)
     select account_id, interface, 'order.placed',
       json_build_object('order', json_build_object('id', '1', 'item', repeat('x', $1::int), 'note', null), 'placedAt', now())
     from webhook_subscription group by account_id, interface`,
    [bodyBytes],
  );
  await t.sql(
    `insert into webhook_payload (event_id, event_version, interface, body)
     select id, '2026-11-01', interface, convert_to(repeat('x', $1::int), 'UTF8') from webhook_event`,
    [bodyBytes],
  );
  await t.sql(
    `insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type,
       event_version, occurred_at, sequence, due_at, body_bytes)
     select s.id, new_record_id(), s.account_id, s.interface, e.id, e.event_type, '2026-11-01', now(), number, now(), $2::int
     from webhook_subscription s join webhook_event e using (account_id),
       generate_series(1, $1::int / (select count(*) from webhook_subscription)) number`,
    [rows / 2, bodyBytes],
  );
  await t.sql(
    `insert into webhook_event_queue (account_id, interface, event_id)
     select account_id, interface, id from webhook_event,
       generate_series(1, $1::int / (select count(*) from webhook_event)) number`,
    [rows / 2],
  );
  await t.sql('analyze');
}

const count = async (table: string): Promise<number> =>
  Number((await t.sql(`select count(*) from ${table}`))[0]?.['count']);

/** In MB: the resident memory of a worker process at its end, and its peak. */
async function measureWorker(): Promise<{ rss: number; peak: number; sent: number }> {
  await t.system.restart('webhook-worker');
  const worker = t.system.apps['webhook-worker'];
  const sentBefore = receiver.deliveries.length;
  await sleep(measuredMs);
  const status = readFileSync(`/proc/${worker.pid}/status`, 'utf8');
  const megabytes = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
  return { rss: megabytes('VmRSS'), peak: megabytes('VmHWM'), sent: receiver.deliveries.length - sentBefore };
}

async function stopWorker(): Promise<void> {
  const worker = t.system.apps['webhook-worker'];
  worker.kill('SIGKILL');
  await worker.ended;
  // The next one does not wait for the lease to expire.
  await t.sql(`update webhook_worker set leased_until = now() - interval '1 second'`);
}

test.skipIf(process.platform !== 'linux')('the memory of a worker does not grow with its backlog', async () => {
  const peaks: number[] = [];
  for (const backlog of backlogs) {
    await stopWorker();
    await replaceBacklog(backlog);
    const { rss, peak, sent } = await measureWorker();
    const left = `${await count('webhook_event_queue')} events and ${await count('webhook_pending_delivery')} deliveries left`;
    process.stdout.write(`backlog of ${backlog}: ${rss} MB, peak ${peak} MB, ${sent} sent, ${left}\n`);
    peaks.push(peak);
  }
  const [, small = 0, large = Infinity] = peaks;
  expect(large).toBeLessThan(small * 1.3);
});
