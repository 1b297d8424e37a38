import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Harness } from '@deedwire/dev-environment/harness';
import { eventually, type Receiver } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

test.concurrent('stores one of many plain first successes', async ({ harness, receiver }) => {
  const worker = await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  await harness.place(100);
  await receiver.waitFor(100);
  await harness.stopWorker(worker);
  const [{ attempts = 0, exchanges = 0, seconds = 0 } = {}] = await harness.sql(`
    select (select count(*)::int from webhook_attempt) as attempts, (select count(*)::int from webhook_exchange) as exchanges,
      (select extract(epoch from max(started_at + duration_ms * interval '1 millisecond') - min(started_at))::float8
       from webhook_attempt) as seconds`);
  expect(attempts).toBe(100);
  expect(exchanges).toBeGreaterThanOrEqual(1);
  expect(exchanges).toBeLessThanOrEqual(Math.ceil(Number(seconds)) + 1);
});

/** Delivers after this statement. A worker that starts after it is not ready. */
async function deliversAfter(statement: string, harness: Harness, receiver: Receiver): Promise<void> {
  await harness.startWorker();
  await harness.sql(statement);
  await harness.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => response.writeHead(receiver.deliveries.length <= 3 ? 500 : 200).end('x');
  await harness.place(20);
  await eventually(async () => {
    const deliveries = await harness.deliveries();
    expect(deliveries).toHaveLength(20);
    expect(deliveries.filter(({ status }) => status !== 'DELIVERED')).toEqual([]);
  });
}

test.concurrent('delivers without the right to insert details', async ({ harness, receiver }) => {
  await deliversAfter('revoke insert on webhook_exchange from webhook_worker', harness, receiver);
});

test.concurrent('delivers without the table of details', async ({ harness, receiver }) => {
  await deliversAfter('drop table webhook_exchange', harness, receiver);
});

test.concurrent('stores no details, and delivers, with a retention of 0 days', async ({ harness, receiver }) => {
  const worker = await harness.startWorker({ WEBHOOK_EXCHANGE_RETENTION_DAYS: 0 });
  await harness.subscribe(receiver.url, ['order.placed']);
  receiver.onDelivery = (response) => response.writeHead(400).end('x');
  await harness.place(1);
  await receiver.waitFor(1);
  await harness.stopWorker(worker);
  expect(await harness.sql('select (select count(*)::int from webhook_exchange) as exchanges')).toEqual([
    { exchanges: 0 },
  ]);
});

test.concurrent('delivers once each, and stores within the bounds, when successful responses are hostile', async ({
  harness,
  receiver,
}) => {
  const worker = await harness.startWorker();
  await harness.subscribe(receiver.url, ['order.placed']);
  const answers: [body: Buffer, ...headers: string[]][] = [
    [Buffer.alloc(16 << 20, 'x')],
    [gzipSync(Buffer.alloc(10_000_000)), 'content-encoding: gzip'],
    [randomBytes(60_000)],
    [Buffer.from('caf\u00e9 \u00ff\0', 'latin1')],
    [Buffer.alloc(0), ...Array.from({ length: 2_000 }, (_, index) => `h${index}:`)],
  ];
  const count = 4 * answers.length;
  receiver.onDelivery = ({ socket }) => {
    const [body = Buffer.alloc(0), ...headers] = answers[receiver.deliveries.length % answers.length] ?? [];
    // The worker closes the connection once it has read enough.
    socket?.on('error', () => {});
    const head = ['HTTP/1.1 200 OK', 'connection: close', `content-length: ${body.length}`, ...headers, '', ''];
    socket?.write(head.join('\r\n'));
    socket?.end(body);
  };
  for (let sent = answers.length; sent <= count; sent += answers.length) {
    await harness.place(answers.length);
    await receiver.waitFor(sent);
  }
  await harness.stopWorker(worker);
  const deliveries = await harness.deliveries();
  expect(deliveries.map(({ status, attempts }) => [status, attempts.length])).toEqual(
    Array.from({ length: count }, () => ['DELIVERED', 1]),
  );
  expect(receiver.deliveries).toHaveLength(count);
  const [largest] = await harness.sql(`
    select count(*)::int > 0 as any, coalesce(max(octet_length(body)), 0) <= 16384 as body,
      coalesce(max(cardinality(response_headers)), 0) <= 80 as headers
    from webhook_exchange`);
  expect(largest).toEqual({ any: true, body: true, headers: true });
});
