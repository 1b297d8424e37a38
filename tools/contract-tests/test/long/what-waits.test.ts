import { setTimeout as sleep } from 'node:timers/promises';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { startPostgres } from '@deedwire/embedded-postgres';
import { type Client, eventually, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as operations from '../support/webhook-operations.ts';

const waiting = 100_000;
const responseMs = 100;
/** Requests to one receiver at once, at most. */
const fullWindow = 16;
/** The worker reads them in the order of their ids, of which those of one statement differ from the order of events. */
const readAtOnce = 512;
const perSecond = 5;
const aloneEvents = 300;

let t: TestSystem;
let receiver: Receiver;
let other: Receiver;

beforeAll(async () => {
  t = await startTestSystem({ server: await startPostgres() });
  [receiver, other] = [await startReceiver(), await startReceiver()];
  await subscribe(t.customer, receiver);
  await subscribe(t.otherCustomer, other);
});

afterAll(async () => {
  await t.close();
  await receiver.close();
  await other.close();
});

async function subscribe(client: Client, { url: callbackUrl }: Receiver): Promise<void> {
  const input = { callbackUrl, eventTypes: [{ type: 'order.placed' }] };
  const { createWebhookSubscription } = await client.request(operations.SubscribeDocument, { input });
  expect(createWebhookSubscription.userErrors).toEqual([]);
}

/** Places orders of the other account until `isDone`. Returns the times from the call to the arrival of the webhook, sorted. */
async function measureOther(isDone: (sent: number) => boolean): Promise<number[]> {
  const before = other.deliveries.length;
  const startedAtMs: number[] = [];
  const calls: Promise<unknown>[] = [];
  const firstMs = performance.now();
  while (!isDone(startedAtMs.length)) {
    await sleep(Math.max(0, firstMs + (startedAtMs.length * 1_000) / perSecond - performance.now()));
    startedAtMs.push(performance.now());
    calls.push(t.otherCustomer.request(operations.PlaceDocument, { input: { item: `${startedAtMs.length}` } }));
  }
  await Promise.all(calls);
  const arrived = await other.waitFor(before + startedAtMs.length);
  return arrived
    .slice(before)
    .map(({ atMs }, index) => atMs - (startedAtMs[index] ?? Number.NaN))
    .toSorted((a, b) => a - b);
}

/** As an outage of a day leaves them: they failed an hour ago, and their next attempts are hours away. */
async function insertWaiting(): Promise<void> {
  await t.sql(
    `with first as (select * from webhook_pending_delivery),
     added as (
       insert into webhook_delivery (subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence + number
       from first, generate_series(1, $1::int) number returning id, sequence
     )
     insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version,
       occurred_at, sequence, due_at, attempts, body_bytes, last_attempt_at, last_is_transient)
     select subscription_id, added.id, account_id, interface, event_id, event_type, event_version, occurred_at, added.sequence,
       now() + random() * interval '6 hours' + interval '6 hours', 12, body_bytes, now() - interval '1 hour', true
     from first, added`,
    [waiting],
  );
  await t.sql('analyze');
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

test('a receiver that works again gets 100,000 waiting deliveries at its full window, oldest first, and delays no other account', async () => {
  const alone = await measureOther((sent) => sent === aloneEvents);

  receiver.onDelivery = (response) => void response.writeHead(503).end();
  await t.customer.request(operations.PlaceDocument, { input: { item: 'Ada' } });
  await receiver.waitFor(1);
  await eventually(async () => {
    const [row] = await t.sql('select attempts > 0 as failed from webhook_pending_delivery');
    expect(row).toEqual({ failed: true });
  });
  const worker = t.system.apps['webhook-worker'];
  worker.kill('SIGTERM');
  await worker.ended;
  await insertWaiting();
  await t.system.restart('webhook-worker');

  let [open, maxOpen] = [0, 0];
  const sequences: number[] = [];
  receiver.onDelivery = (response, { headers }) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    sequences.push(Number(headers['x-service-webhook-sequence']));
    setTimeout(() => {
      open -= 1;
      response.writeHead(204).end();
    }, responseMs);
  };
  // Its retry, by its schedule, is the first success.
  await eventually(() => expect(sequences).toHaveLength(1));
  const startedAtMs = performance.now();
  const beside = await measureOther(() => sequences.length > waiting);
  const seconds = (performance.now() - startedAtMs) / 1_000;

  const bound = (1_000 / responseMs) * fullWindow;
  const furthest = sequences.reduce((most, sequence, index) => Math.max(most, Math.abs(sequence - index - 1)), 0);
  process.stdout.write(
    `${waiting} deliveries in ${seconds.toFixed(0)} s, ${(waiting / seconds).toFixed(1)} per second of at most ${bound}, none more than ${furthest} places away from its order; ` +
      `another account, p50 and p99: alone ${quantile(alone, 0.5).toFixed(1)} and ${quantile(alone, 0.99).toFixed(1)} ms, ` +
      `beside ${quantile(beside, 0.5).toFixed(1)} and ${quantile(beside, 0.99).toFixed(1)} ms, ` +
      `p99 ${(quantile(beside, 0.99) / quantile(alone, 0.99)).toFixed(2)} ×\n`,
  );
  expect(new Set(sequences).size).toBe(sequences.length);
  expect(sequences).toHaveLength(waiting + 1);
  expect(maxOpen).toBe(fullWindow);
  expect(furthest).toBeLessThanOrEqual(readAtOnce);
  await eventually(async () => {
    expect(await t.sql('select 1 from webhook_pending_delivery')).toEqual([]);
  });
});
