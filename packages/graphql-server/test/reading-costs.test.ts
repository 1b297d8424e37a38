import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '@deedwire/auth';
import { testService } from '@deedwire/core/test-service';
import { afterEach, expect, test, vi } from 'vitest';
import type { CostBuckets } from '../src/cost/bucket.ts';
import { createCostBuckets } from '../src/cost/cost-buckets.ts';
import {
  jsonHeaders,
  type SampleServer,
  type SampleServerOptions,
  startSampleServer,
  stored,
} from './sample-server.ts';

let server: SampleServer | undefined;
afterEach(() => server?.close());

const headers = jsonHeaders;

interface Answer {
  code: string;
  /** The points that are left, as the header states them. */
  left: number;
}

async function post(body: string): Promise<Answer> {
  const response = await fetch(server?.url ?? '', { method: 'POST', headers, body });
  const { errors } = await response.json();
  const [, left] = /r=(\d+)/.exec(response.headers.get('RateLimit') ?? '') ?? [];
  return { code: errors?.[0].extensions.code ?? 'OK', left: Number(left) };
}

const send = (query: string): Promise<Answer> => post(JSON.stringify({ query }));

/** A server whose client has a bucket that regains almost nothing. */
async function startWithBucket(maximum: number): Promise<SampleServer> {
  let points = maximum;
  const buckets = createCostBuckets({
    async settle(_, { change, needed, least, spare }) {
      points += change;
      const granted = points < least ? 0 : Math.max(0, Math.floor(Math.min(points, needed + spare)));
      points -= granted;
      return { granted, points };
    },
  });
  server = await startSampleServer({ buckets });
  server.findKeysWith(async () => ({ ...stored, costLimit: { maximum, restoreRate: 0.001 } }));
  return server;
}

async function parsedDocuments(result: 'valid' | 'rejected'): Promise<number> {
  const metric = await server?.metrics.getSingleMetric('deedwire_documents_parsed_total')?.get();
  return metric?.values.find(({ labels }) => labels['result'] === result)?.value ?? 0;
}

/** Sends documents on four connections. */
async function flood(count: number, query: (index: number) => string): Promise<Record<string, number>> {
  const codes: Record<string, number> = {};
  let next = 0;
  const connection = async (): Promise<void> => {
    while (next < count) {
      const { code } = await send(query((next += 1)));
      codes[code] = (codes[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 4 }, connection));
  return codes;
}

test.each([
  ['a typing error', 40, (index: number) => `{hello nope${index}}`],
  ['many unknown fields', 500, (index: number) => `{${`nope${index} `.repeat(800)}}`.slice(0, 4_999).padEnd(5_000)],
])('a client can have as many new documents with %s rejected as its points pay for', async (_, cost, query) => {
  await startWithBucket(2_000);
  const codes = await flood(80, query);
  // Each connection can have one in progress when the points run out.
  const paid = Math.min(76, 2_000 / cost) + 4;
  expect(codes['RATE_LIMITED']).toBeGreaterThanOrEqual(80 - paid);
  expect(await parsedDocuments('rejected')).toBe(80 - (codes['RATE_LIMITED'] ?? 0));
  expect(await parsedDocuments('valid')).toBe(0);
});

test('a client can have as many new valid documents parsed as its points pay for', async () => {
  await startWithBucket(1_000);
  const codes = await flood(30, (index) => `query Q${index}{hello}`.padEnd(10_000, '#'));
  expect(codes).toEqual({ OK: 10, RATE_LIMITED: 20 });
  expect(await parsedDocuments('valid')).toBe(10);
});

test('a request that fails costs a point for 500 bytes of its body', async () => {
  await startWithBucket(2_000);
  const unpaid = [
    '{',
    '['.repeat(2_001),
    JSON.stringify({ query: '{hello}', variables: Array.from({ length: 20 }) }),
    JSON.stringify({ query: '{hello}', variables: { a: Array.from({ length: 3_000 }, () => 1) } }),
  ];
  const answers = [];
  for (const body of unpaid) answers.push(await post(body));
  expect(answers).toEqual([
    { code: 'BAD_REQUEST', left: 1_999 },
    { code: 'BAD_REQUEST', left: 1_994 },
    { code: 'BAD_REQUEST', left: 1_993 },
    { code: 'BAD_USER_INPUT', left: 1_980 },
  ]);
});

/** Knows that the client has no points. */
const empty: CostBuckets = {
  ...createCostBuckets({ settle: async () => ({ granted: 0, points: 0 }) }),
  knownRejection: async () => ({
    admitted: false,
    throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: 0, restoreRate: 200 },
    retryAfterMs: 1_001,
  }),
};

test('a client that is known to have no points is refused before its body is read', async () => {
  server = await startSampleServer({ buckets: empty });
  const sent = request(server.url, {
    method: 'POST',
    headers: { ...headers, Expect: '100-continue', 'Content-Length': 50_000 },
  });
  let isBodyWanted = false;
  sent.once('continue', () => (isBodyWanted = true));
  const responded = once(sent, 'response');
  sent.flushHeaders();
  const [response] = await responded;
  const body = await text(response);
  sent.destroy();
  expect([isBodyWanted, response.statusCode, response.headers['retry-after']]).toEqual([false, 429, '2']);
  expect(JSON.parse(body)).toEqual({
    errors: [
      {
        message:
          'Every request costs at least 1 point, but your client has 0. The limit clientCostPoints is 2,000 points, restored ' +
          'at 200 per second. Retry after the time in the Retry-After header.',
        extensions: {
          code: 'RATE_LIMITED',
          requestId: expect.any(String),
          documentationUrl: 'https://docs.example/errors.md#rate_limited',
          cost: {
            requestedQueryCost: 1,
            limit: 1_000,
            throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: 0, restoreRate: 200 },
          },
        },
      },
    ],
  });
});

test('a burst of new documents of one client does not hold up the request of another', async () => {
  const { apiKey, keyId, keyHash } = generateApiKey(testService, 'supplier');
  const other = { ...stored, keyId, keyHash, clientId: 'client-2' };
  const sample = await startSampleServer();
  server = sample;
  sample.findKeysWith(async (id) => (id === keyId ? other : stored));
  const ofOther = { ...headers, 'X-Service-Client-Id': 'client-2', 'X-Service-API-Key': apiKey };
  const ask = async (query: string, init: RequestInit): Promise<number> =>
    (await fetch(sample.url, { method: 'POST', headers, body: JSON.stringify({ query }), ...init })).status;
  await ask('{hello}', { headers: ofOther });
  const before = await parsedDocuments('valid');
  const controller = new AbortController();
  const { signal } = controller;
  const burst = Array.from({ length: 40 }, (_, index) =>
    ask(`{hello(name:"${index}") ${'__typename '.repeat(1_900)}}`, { signal }),
  );
  const ended = Promise.allSettled(burst);
  // The client takes turns: most of its documents wait.
  expect(await ask('{hello}', { headers: ofOther })).toBe(200);
  expect((await parsedDocuments('valid')) - before).toBeLessThan(20);
  controller.abort();
  await ended;
  // Those that waited go no further, which is no failure of the service.
  const codes = (): unknown[] => sample.logged.map(({ code }) => code);
  await vi.waitFor(() => expect(codes()).toContain('CLIENT_CLOSED_REQUEST'), { timeout: 60_000 });
  expect(codes()).not.toContain('SERVICE_UNAVAILABLE');
});

test('a client that does not wait gets the first 20 refusals at once, and 20 per second afterwards', async () => {
  server = await startSampleServer({ buckets: empty });
  const startMs = performance.now();
  const codes = await Promise.all(Array.from({ length: 26 }, async () => (await send('{hello}')).code));
  expect(new Set(codes)).toEqual(new Set(['RATE_LIMITED']));
  // Timers can be late, but not early.
  expect(performance.now() - startMs).toBeGreaterThan(5 * 50 - 10);
});

interface ImpatientClient {
  sockets: Socket[];
  /** When each refusal was made, sent or not. */
  refusedAtMs: number[];
}

/** A client without points sends 720 requests on 12 connections, without waiting for responses. */
async function sendWithoutWaiting(options: SampleServerOptions = {}): Promise<ImpatientClient> {
  const refusedAtMs: number[] = [];
  const knownRejection: CostBuckets['knownRejection'] = (...values) => {
    refusedAtMs.push(performance.now());
    return empty.knownRejection(...values);
  };
  server = await startSampleServer({ ...options, buckets: { ...empty, knownRejection } });
  const { port, pathname } = new URL(server.url);
  const lines = Object.entries({ ...headers, Host: 'a', 'Content-Length': 2 }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const requests = `POST ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{}`.repeat(60);
  const sockets = Array.from({ length: 12 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {}).resume();
    socket.write(requests);
  }
  return { sockets, refusedAtMs };
}

test('a client that does not wait for its refusals is disconnected 5 seconds after 400 of them', async () => {
  const { sockets, refusedAtMs } = await sendWithoutWaiting();
  await Promise.any(sockets.map((socket) => once(socket, 'close')));
  // Until then they count, so that the client cannot open others instead.
  expect(performance.now() - (refusedAtMs[399] ?? Infinity)).toBeGreaterThan(4_900);
  for (const socket of sockets) socket.destroy();
});

test('behind a trusted proxy, its connections stay open, and the further refusals come late', async () => {
  const startMs = performance.now();
  const { sockets, refusedAtMs } = await sendWithoutWaiting({ config: { TRUSTED_PROXIES: { includes: () => true } } });
  let responses = 0;
  for (const socket of sockets) {
    socket.on('data', (chunk) => (responses += String(chunk).split('HTTP/1.1 429').length - 1));
    socket.once('close', () => (responses = Number.NaN));
  }
  await vi.waitFor(() => expect(refusedAtMs.length).toBeGreaterThanOrEqual(400), 60_000);
  // The refusals that were looked at come at 20 per second, and so far few of them.
  await sleep(1_000);
  expect(responses).toBeLessThan(80 + (20 * (performance.now() - startMs)) / 1_000);
  for (const socket of sockets) socket.destroy();
});
