import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { eventually, listen } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HandlerContext } from '../../src/handlers.ts';
import { memoryStore } from '../../src/memory.ts';
import { nodeHandler } from '../../src/node.ts';
import type { WebhookReceiverOptions } from '../../src/options.ts';
import { postgresKeptEvents, postgresStore } from '../../src/postgres.ts';
import { PullStop } from '../../src/pull-stop.ts';
import { graphqlPull, type GraphqlPullOptions, PullError } from '../../src/pull.ts';
import { createWebhookReceiver, type PullingReceiver } from '../../src/receiver.ts';
import { redisStore, type RedisStoreOptions } from '../../src/redis.ts';
import type { WebhookStore } from '../../src/store.ts';
import { openDatabase } from '../support/database.ts';
import { deliveryOf, handling, secret, send } from '../support/delivery.ts';
import { logLinesTo } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';
import { credentials, PullServer, error, respondWith, subscriptionId } from '../support/pull-server.ts';
import { isWithoutRedis, type RedisServer, startRedis } from '../support/redis-server.ts';

let server: PullServer;
let handled: string[];
let logged: string[];

const { database, pool } = await openDatabase('');
const redis = isWithoutRedis ? undefined : await forFile(startRedis());

beforeEach(async () => {
  handled = [];
  logged = [];
  server = await new PullServer().start();
  await pool.query('truncate webhook_receipt, webhook_kept_event; drop table if exists webhook_receipt_pull');
});

afterEach(() => server.close());

type Options = Partial<Omit<WebhookReceiverOptions<typeof events, unknown, unknown>, 'events'>>;
type Handle = (id: string, context: HandlerContext<unknown>) => unknown;

function receiverOf(options: Options = {}, handle: Handle = () => {}): PullingReceiver {
  return createWebhookReceiver<typeof events, unknown>({
    events,
    store: postgresStore(pool),
    on: handling(async (_event, context) => {
      await handle(context.id, context);
      handled.push(context.id);
    }),
    log: logLinesTo(logged),
    ...options,
  });
}

function pullOf(options: Partial<GraphqlPullOptions> = {}) {
  return graphqlPull({ prefix: 'X-Service', url: server.url, credentials, subscriptionId, ...options });
}

const idsOf = (listed: readonly { deliveryId: string }[]): string[] => listed.map(({ deliveryId }) => deliveryId);

const stores: [name: string, create: () => WebhookStore<unknown>][] = [
  ['memory', () => memoryStore()],
  ['PostgreSQL', () => postgresStore(pool)],
  ...(redis === undefined ? [] : [redisEntry(redis)]),
];

function redisEntry({ client }: RedisServer): [string, () => WebhookStore] {
  let prefixes = 0;
  const sendCommand: RedisStoreOptions['send'] = ([name, ...parameters]) => client.call(name, ...parameters);
  return [
    'Redis',
    () => {
      prefixes += 1;
      return redisStore({ prefix: `reconcile${prefixes}`, send: sendCommand });
    },
  ];
}

/** From now on, `Date` shows what the test sets. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets the waits of runs take a hundredth of their time. Returns them. */
function shortenWaits(): number[] {
  const waits: number[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- called with its object
  const { sleep: wait } = PullStop.prototype;
  const spy = vi.spyOn(PullStop.prototype, 'sleep').mockImplementation(function shortened(this: PullStop, ms) {
    waits.push(ms);
    return wait.call(this, ms / 100);
  });
  onTestFinished(() => spy.mockRestore());
  return waits;
}

describe.each(stores)('with the store of %s', (_, create) => {
  test('the first run starts at the earliest kept event, and the next one where it ended', async () => {
    const receiver = receiverOf({ store: create() });
    const added = server.add(250);
    server.expire(30);
    expect(await receiver.reconcile(pullOf())).toEqual({
      end: 'complete',
      seen: 220,
      processed: 220,
      duplicate: 0,
      accepted: 0,
      kept: 0,
      unhandled: 0,
      withoutPayload: 0,
      watermark: 250,
      lastSequence: 250,
      held: [],
      givenUp: [],
      gap: null,
    });
    expect(handled).toEqual(idsOf(added.slice(30)));
    server.requests = [];
    const more = server.add(3);
    expect(await receiver.reconcile(pullOf())).toMatchObject({ seen: 3, processed: 3, watermark: 253 });
    expect(handled.slice(220)).toEqual(idsOf(more));
    expect(server.requests.map(({ variables }) => variables.after)).toEqual(['cursor-of-7-250']);
    expect(await receiver.reconcile(pullOf())).toMatchObject({ seen: 0, watermark: 253 });
  });

  test('finds exactly what was not pushed', async () => {
    const receiver = receiverOf({ store: create(), secrets: [secret] });
    const added = server.add(40);
    const { port } = await forTest(listen(createServer(nodeHandler(receiver))));
    for (const { sequence, deliveryId, payload } of added)
      if (sequence % 9 !== 0)
        await send(`http://127.0.0.1:${port}/`, deliveryOf({ id: deliveryId, body: payload ?? '' }));
    expect(handled).toHaveLength(36);
    expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 4, duplicate: 36, watermark: 40 });
    expect(handled.slice(36)).toEqual(idsOf(added.filter(({ sequence }) => sequence % 9 === 0)));
  });

  test('one run at a time: the second waits for its turn, and another process takes over when the lease ends', async () => {
    const store = create();
    server.add(3);
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const first = receiverOf({ store }, async () => {
      start();
      await released;
    }).reconcile(pullOf());
    await started;
    const receiver = receiverOf({ store });
    // On a machine that stalls, the time can be over before the database has responded.
    await eventually(async () =>
      expect(await receiver.reconcile(pullOf(), { timeoutMs: 300 })).toMatchObject({ end: 'busy', seen: 0 }),
    );
    const second = receiver.reconcile(pullOf());
    release();
    expect(await first).toMatchObject({ processed: 3 });
    expect(await second).toMatchObject({ end: 'complete', seen: 0, watermark: 3 });

    // As after kill -9.
    await store.positions?.take(subscriptionId, 'a killed process', 600);
    server.add(1);
    expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 1 });
    expect(await store.positions?.keep(subscriptionId, 'a killed process', 600, 'older')).toBe(false);
    expect(await receiver.reconcile(pullOf())).toMatchObject({ seen: 0, watermark: 4 });
  });

  test('reprocess calls the handlers again since a time, and keeps what was processed if they fail', async () => {
    const receiver = receiverOf({ store: create() });
    server.add(5, { timestamp: '2026-11-20T10:00:00.000Z' });
    const late = server.add(130, { timestamp: '2026-11-20T12:00:00.000Z' });
    await receiver.reconcile(pullOf());
    handled = [];
    const since = new Date('2026-11-20T11:00:00.000Z');
    expect(await receiver.reprocess(pullOf(), { since })).toMatchObject({
      end: 'complete',
      seen: 130,
      processed: 130,
      failed: [],
    });
    expect(handled).toEqual(idsOf(late));
    const broken = receiverOf({ store: create() }, () => Promise.reject(new Error('The disk is full.')));
    const { failed, ...report } = await broken.reprocess(pullOf(), { since });
    expect(report).toMatchObject({ end: 'complete', seen: 130, processed: 0 });
    expect(failed).toHaveLength(130);
    expect(failed[0]).toEqual({ sequence: 6, id: late[0]?.deliveryId, code: 'HANDLER_FAILED' });
    expect(await receiver.reconcile(pullOf())).toMatchObject({ seen: 0, watermark: 135 });
    expect(await receiver.processPulled({ id: late[0]?.deliveryId ?? '', payload: late[0]?.payload ?? '' })).toBe(
      'DUPLICATE',
    );
  });
});

test('two processes that reconcile all the time, and lose their leases in the middle, have each event once', async () => {
  const pools = await Promise.all(
    [0, 1].map(() => forTest(new Pool({ connectionString: database.databaseUrl, max: 4 }))),
  );
  let isDone = false;
  const watermarks: number[] = [];
  const runs = pools.map(async (each) => {
    const receiver = receiverOf({ store: postgresStore(each) }, () => sleep(1));
    const pull = pullOf({ waitSeconds: 1 });
    while (!isDone) {
      const { end, watermark } = await receiver.reconcile(pull, { leaseMs: 1_000, concurrency: 3 });
      if (end === 'complete' && watermark !== null) watermarks.push(watermark);
    }
  });
  server.add(25);
  // The first run creates the tables.
  await eventually(() => expect(watermarks).not.toEqual([]));
  for (let round = 1; round < 12; round += 1) {
    server.add(25);
    await sleep(60);
    // As if the process that has the lease had been suspended.
    await pool.query(`update webhook_receipt_pull set held_until = now() - interval '1 second'`);
  }
  await eventually(() => expect(watermarks.at(-1)).toBe(300));
  isDone = true;
  await Promise.all(runs);
  expect(watermarks).toEqual(watermarks.toSorted((a, b) => a - b));
  expect(handled.toSorted()).toEqual(idsOf(server.events).toSorted());
});

test('positions that are older than the ids, and older than both, find what is missing and repeat nothing else', async () => {
  const receiver = receiverOf();
  server.add(150);
  await receiver.reconcile(pullOf());
  const backup = await pool.query('select position from webhook_receipt_pull');
  const middle = await pool.query('select now() as time');
  server.add(100);
  await receiver.reconcile(pullOf());
  const restore = (): Promise<unknown> =>
    pool.query('update webhook_receipt_pull set position = $1', [backup.rows[0].position]);
  await restore();
  expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 0, duplicate: 100, watermark: 250 });
  // The ids are restored too, as the changes of the handlers in the same database are.
  await restore();
  await pool.query('delete from webhook_receipt where received_at >= $1', [middle.rows[0].time]);
  expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 100, duplicate: 0, watermark: 250 });
  expect(handled).toHaveLength(350);
});

test('a handler that fails holds the watermark while later events are processed, and runs again after its delay', async () => {
  stopClock();
  let isBroken = true;
  const added = server.add(120);
  const receiver = receiverOf({}, (id) => {
    if (isBroken && id.endsWith('/50')) throw new Error('The disk is full.');
  });
  expect(await receiver.reconcile(pullOf())).toMatchObject({
    end: 'complete',
    processed: 119,
    watermark: 49,
    held: [{ sequence: 50, id: added[49]?.deliveryId, code: 'HANDLER_FAILED', attempts: 1 }],
  });
  // Not before its time, and only it.
  expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 0, watermark: 49 });
  vi.setSystemTime(Date.now() + 10_001);
  expect(await receiver.reconcile(pullOf())).toMatchObject({ watermark: 49, held: [{ attempts: 2 }] });
  isBroken = false;
  // A clock that was set back by an hour does not prolong the wait.
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 1, watermark: 120, held: [] });
  expect(handled).toHaveLength(120);
});

test('processes whose clocks are ten minutes apart take turns without using up the attempts of an event', async () => {
  stopClock();
  server.add(1);
  const receivers = Array.from({ length: 2 }, () =>
    receiverOf({}, () => Promise.reject(new Error('The disk is full.'))),
  );
  const reports = [];
  // Within a minute.
  for (let run = 0; run < 30; run += 1) {
    vi.setSystemTime(Date.now() + (run % 2 === 0 ? 600_000 : -600_000) + 2_000);
    reports.push(await receivers[run % 2]?.reconcile(pullOf()));
  }
  // The delays of the first six attempts are below ten minutes.
  expect(reports.at(-1)).toMatchObject({
    watermark: 0,
    givenUp: [],
    held: [{ attempts: expect.toSatisfy((n) => n <= 7) }],
  });
});

test('a date in Retry-After is compared with the clock of the server', async () => {
  server.add(1);
  const serverMs = Date.now() - 600_000;
  breakFirst(1, (response) => {
    const date = new Date(serverMs).toUTCString();
    const headers = { date, 'retry-after': new Date(serverMs + 2_000).toUTCString() };
    respondWith(response, { errors: [error('RATE_LIMITED')] }, 429, headers);
    return true;
  });
  const waits = shortenWaits();
  expect(await receiverOf().reconcile(pullOf())).toMatchObject({ processed: 1 });
  expect(waits).toContain(2_000);
});

test('an event that failed is found again although pages end earlier, or events before it are no longer kept', async () => {
  stopClock();
  let isBroken = true;
  const receiver = receiverOf({}, (id) => {
    if (isBroken && /\/(?:50|170)$/.test(id)) throw new Error('The disk is full.');
  });
  server.add(200);
  const failed = await receiver.reconcile(pullOf());
  expect(failed.held.map(({ sequence }) => sequence)).toEqual([50, 170]);
  isBroken = false;
  server.pageMax = 20;
  // The place of the second is after 100.
  server.expire(120);
  vi.setSystemTime(Date.now() + 10_001);
  expect(await receiver.reconcile(pullOf())).toMatchObject({
    processed: 1,
    watermark: 200,
    held: [],
    givenUp: [{ sequence: 50, code: 'EXPIRED' }],
  });
  expect(handled.at(-1)).toBe('gid://service/WebhookDelivery/170');
});

test('a handler that fails k times is recorded and passed, and reprocess calls it', async () => {
  stopClock();
  let isBroken = true;
  server.add(3);
  const receiver = receiverOf({}, (id) => {
    if (isBroken && id.endsWith('/2')) throw new Error('Poison.');
  });
  const reports = [];
  for (let attempt = 0; attempt < 4; attempt += 1) {
    reports.push(await receiver.reconcile(pullOf(), { maxAttempts: 3 }));
    vi.setSystemTime(Date.now() + 3_600_000);
  }
  expect(reports.map(({ watermark, held, givenUp }) => [watermark, held.length, givenUp.length])).toEqual([
    [1, 1, 0],
    [1, 1, 0],
    [3, 0, 1],
    [3, 0, 0],
  ]);
  expect(reports[2]?.givenUp).toEqual([{ sequence: 2, id: 'gid://service/WebhookDelivery/2', code: 'HANDLER_FAILED' }]);
  expect(logged.filter((line) => line.startsWith('PULL_GAVE_UP'))).toEqual([
    expect.stringContaining('The event with sequence 2 failed 3 times with HANDLER_FAILED. It is given up'),
  ]);
  const { rows } = await pool.query('select position from webhook_receipt_pull');
  expect(JSON.parse(rows[0].position).givenUp).toEqual(reports[2]?.givenUp);
  isBroken = false;
  const ofRealm = runInNewContext('new Date(0)');
  expect(ofRealm).not.toBeInstanceOf(Date);
  expect(await receiver.reprocess(pullOf(), { since: ofRealm })).toMatchObject({ processed: 3 });
  for (const since of ['2026-11-20T11:00:00.000Z', new Date(Number.NaN), null])
    // @ts-expect-error -- as in JavaScript
    await expect(receiver.reprocess(pullOf(), { since })).rejects.toThrow('since must be a Date.');
});

test('a run ends when the handlers of 100 events fail, and goes on when they work again', async () => {
  stopClock();
  let isBroken = true;
  server.add(150);
  const receiver = receiverOf({}, () => {
    if (isBroken) throw new Error('Everything is broken.');
  });
  expect(await receiver.reconcile(pullOf())).toMatchObject({ end: 'failing', processed: 0, seen: 100, watermark: 0 });
  expect(await receiver.reconcile(pullOf())).toMatchObject({ end: 'failing', seen: 0 });
  isBroken = false;
  vi.setSystemTime(Date.now() + 10_001);
  expect(await receiver.reconcile(pullOf())).toMatchObject({ end: 'complete', processed: 150, watermark: 150 });
  expect(new Set(handled).size).toBe(150);
  expect(handled).toHaveLength(150);
});

test('events without a handler pass the watermark once they are kept or ignored', async () => {
  const keepUnhandled = postgresKeptEvents(pool, { maximum: 2 });
  server.add(4);
  stopClock();
  expect(await receiverOf({ on: {}, keepUnhandled }).reconcile(pullOf(), { maxAttempts: 1 })).toMatchObject({
    kept: 2,
    watermark: 2,
    held: [{ sequence: 3, code: 'UNHANDLED' }, { sequence: 4 }],
    givenUp: [],
  });
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(await receiverOf({ on: {} }).reconcile(pullOf())).toMatchObject({ unhandled: 2, watermark: 4 });
});

test('an event that could not be rendered is logged and passed', async () => {
  server.add(3);
  server.events = server.events.map((event) => (event.sequence === 2 ? { ...event, payload: null } : event));
  expect(await receiverOf().reconcile(pullOf())).toMatchObject({ processed: 2, withoutPayload: 1, watermark: 3 });
  expect(logged).toEqual([expect.stringContaining('NO_PAYLOAD: The event with sequence 2 has no payload')]);
});

test('an expired cursor is an error with the lost sequences, and earliest goes on after them', async () => {
  const receiver = receiverOf();
  server.add(10);
  await receiver.reconcile(pullOf());
  server.add(20);
  server.expire(25);
  const run = receiver.reconcile(pullOf());
  await expect(run).rejects.toThrow('CURSOR_EXPIRED: The events with the sequences from 11 to 25 are no longer kept');
  await expect(run).rejects.toMatchObject({ code: 'CURSOR_EXPIRED', gap: { from: 11, to: 25 } });
  await expect(run).rejects.toSatisfy((thrown) => PullError.isInstance(thrown));
  expect(await receiver.reconcile(pullOf(), { from: 'earliest' })).toMatchObject({
    processed: 5,
    watermark: 30,
    gap: { from: 11, to: 25 },
  });
  expect(logged).toContainEqual(expect.stringMatching(/^PULL_GAP: .* sequences 11 to 25 were not read/));
  expect(await receiver.reconcile(pullOf())).toMatchObject({ seen: 0, gap: null });
  server.add(5);
  server.expire(35);
  await expect(receiver.reconcile(pullOf())).rejects.toMatchObject({ gap: { from: 31, to: null } });
});

test('nothing below the watermark runs again, although the store has forgotten it', async () => {
  const receiver = receiverOf();
  server.add(150);
  await receiver.reconcile(pullOf());
  await pool.query('truncate webhook_receipt');
  server.add(2);
  for (const from of ['earliest', { since: new Date(0) }, 'cursor'] as const)
    await receiver.reconcile(pullOf(), { from });
  expect(handled).toHaveLength(152);
});

test('since starts there, and says which sequences it leaves out', async () => {
  server.add(5, { timestamp: '2026-11-20T10:00:00.000Z' });
  server.add(5, { timestamp: '2026-11-20T12:00:00.000Z' });
  const from = { since: new Date('2026-11-20T11:00:00.000Z') };
  expect(await receiverOf().reconcile(pullOf(), { from })).toMatchObject({ processed: 5, watermark: 10, gap: null });
  server.add(5, { timestamp: '2026-11-20T13:00:00.000Z' });
  server.add(5, { timestamp: '2026-11-20T14:00:00.000Z' });
  const later = { since: new Date('2026-11-20T13:30:00.000Z') };
  expect(await receiverOf().reconcile(pullOf(), { from: later })).toMatchObject({
    processed: 5,
    gap: { from: 11, to: 15 },
  });
});

test('a store that remembers less than the server keeps is refused for earliest', async () => {
  const forgetful = receiverOf({ store: memoryStore({ maximum: 4 }) });
  server.add(5);
  const refused = forgetful.reconcile(pullOf());
  await expect(refused).rejects.toThrow(
    'STORE_FORGETS: The server keeps 5 events, and the store remembers 4. Pass from: { since }',
  );
  expect(await forgetful.reconcile(pullOf(), { from: { since: new Date(0) } })).toMatchObject({ processed: 5 });
  server.events = [];
  server.add(1, { timestamp: new Date(Date.now() - 40 * 86_400_000).toISOString() });
  for (const from of ['cursor', 'earliest'] as const)
    await expect(receiverOf().reconcile(pullOf(), { from })).rejects.toMatchObject({ code: 'STORE_FORGETS' });
  expect(handled).toHaveLength(5);
});

test('a store of the application without positions is refused', async () => {
  const store: WebhookStore = { once: async () => 'processed', forget: async () => 0 };
  await expect(receiverOf({ store }).reconcile(pullOf())).rejects.toMatchObject({ code: 'STORE_UNSUPPORTED' });
  await expect(receiverOf({ store }).reprocess(pullOf(), { since: new Date() })).rejects.toMatchObject({
    code: 'STORE_UNSUPPORTED',
  });
});

test('events younger than minAgeMs are left to push, by the clock of the server', async () => {
  const serverMs = Date.now() + 3_600_000;
  server.interrupt = (response) => {
    response.setHeader('date', new Date(serverMs).toUTCString());
    return false;
  };
  server.add(3, { timestamp: new Date(serverMs - 120_000).toISOString() });
  server.add(3, { timestamp: new Date(serverMs - 5_000).toISOString() });
  const receiver = receiverOf();
  expect(await receiver.reconcile(pullOf(), { minAgeMs: 60_000 })).toMatchObject({
    end: 'complete',
    processed: 3,
    watermark: 3,
  });
  expect(await receiver.reconcile(pullOf(), { minAgeMs: 60_000 })).toMatchObject({ seen: 0, watermark: 3 });
  expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 3, watermark: 6 });
});

test('a run can process several events at once, and reports its progress', async () => {
  let running = 0;
  let most = 0;
  server.add(230);
  const { promise: allRun, resolve: allAreRunning } = Promise.withResolvers<void>();
  const receiver = receiverOf({}, async () => {
    running += 1;
    most = Math.max(most, running);
    if (running === 5) allAreRunning();
    await allRun;
    await sleep(1);
    running -= 1;
  });
  const seen: number[] = [];
  const report = await receiver.reconcile(pullOf(), {
    concurrency: 5,
    onProgress: (progress) => {
      seen.push(progress.sequence);
      throw new Error('The progress bar is broken.');
    },
  });
  expect(report).toMatchObject({ processed: 230, watermark: 230 });
  expect(most).toBe(5);
  expect(seen).toEqual([100, 200, 230]);
  expect(new Set(handled).size).toBe(230);
});

test('a signal, a time and close end a run after its handler, and the next one continues', async () => {
  server.add(150);
  const abort = new AbortController();
  const stopping = receiverOf({}, async (id) => {
    if (id.endsWith('/120')) abort.abort();
    await sleep(1);
  });
  expect(await stopping.reconcile(pullOf(), { signal: abort.signal })).toMatchObject({
    end: 'stopped',
    processed: 120,
    watermark: 120,
  });
  await expect(stopping.reconcile(pullOf(), { signal: abort.signal })).rejects.toThrow('aborted');
  expect(await stopping.reconcile(pullOf())).toMatchObject({ end: 'complete', processed: 30, watermark: 150 });

  const { promise: waiting, resolve } = Promise.withResolvers<void>();
  server.interrupt = () => {
    resolve();
    return false;
  };
  const run = stopping.reconcile(pullOf({ waitSeconds: 20 }));
  await waiting;
  await stopping.close();
  expect(await run).toMatchObject({ end: 'stopped', watermark: 150 });
  await expect(stopping.reconcile(pullOf())).rejects.toMatchObject({ code: 'CLOSED' });
  expect(await receiverOf().reconcile(pullOf({ waitSeconds: 20 }), { timeoutMs: 100 })).toMatchObject({
    end: 'stopped',
  });
  expect(handled).toHaveLength(150);
});

test('waits for the next event, and a loop that is answered at once does not become a busy one', async () => {
  const receiver = receiverOf();
  server.add(1);
  await receiver.reconcile(pullOf());
  const waited = receiver.reconcile(pullOf({ waitSeconds: 20 }));
  await eventually(() => expect(server.requests).toHaveLength(2));
  server.add(1);
  expect(await waited).toMatchObject({ processed: 1, watermark: 2 });
  // As if too many requests waited.
  server.interrupt = (_, { variables }) => {
    Object.assign(variables, { waitSeconds: 0 });
    return false;
  };
  const startMs = performance.now();
  await receiver.reconcile(pullOf({ waitSeconds: 20 }));
  expect(performance.now() - startMs).toBeGreaterThan(990);
});

/** Breaks the first requests. */
function breakFirst(count: number, respond: NonNullable<PullServer['interrupt']>): void {
  let broken = 0;
  server.interrupt = (response, request) => {
    broken += 1;
    return broken <= count ? respond(response, request) : false;
  };
}

/** Responds with a page, whatever was asked for. */
function respondWithPage(
  response: ServerResponse,
  page: { edges: object[]; lastSequence: number; firstKeptSequence?: number },
): true {
  const webhookEvents = { firstKeptSequence: 1, ...page, pageInfo: { endCursor: 'cursor-of-7-4' } };
  respondWith(response, { data: { webhookEvents } });
  return true;
}

describe('of a server that does not respond as the API does', () => {
  const json = { 'content-type': 'application/json' };

  test.each<[name: string, respond: NonNullable<PullServer['interrupt']>]>([
    ['a connection that is closed', (response) => Boolean(response.destroy())],
    ['503', (response) => (respondWith(response, { errors: [error('SERVICE_UNAVAILABLE')] }, 503), true)],
    ['a 502 of a proxy', (response) => (response.writeHead(502).end('<html>Bad gateway</html>'), true)],
    [
      'a 200 with HTML',
      (response) => (response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'), true),
    ],
    [
      'truncated JSON',
      (response) => (response.writeHead(200, json).end('{"data":{"webhookEvents":{"edges":[{"seq'), true),
    ],
    [
      'a body that ends early',
      (response) => {
        response.writeHead(200, { ...json, 'content-length': '1000' }).write('{"data":');
        setTimeout(() => response.destroy(), 20);
        return true;
      },
    ],
    [
      'a page without its fields',
      (response) => (respondWith(response, { data: { webhookEvents: { edges: [{}] } } }), true),
    ],
    [
      'ids of other things',
      (response) => {
        const node = { deliveryId: 'gid://service/WebhookEvent/1', isTest: false, payload: '{}' };
        return respondWithPage(response, { edges: [{ sequence: 1, node }], lastSequence: 1 });
      },
    ],
  ])('%s is read again', async (_, respond) => {
    server.add(3);
    breakFirst(2, respond);
    shortenWaits();
    expect(await receiverOf().reconcile(pullOf())).toMatchObject({ processed: 3, watermark: 3 });
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatch(/^PULL_RETRY: .* tries again in 1 s\./);
    expect(logged.join()).not.toContain(credentials.apiKey);
  });

  test('five responses in a row that are not of the API are an error', async () => {
    server.interrupt = (response) => (response.writeHead(200).end('<html>Sign in</html>'), true);
    shortenWaits();
    const run = receiverOf().reconcile(pullOf());
    await expect(run).rejects.toThrow(
      'RESPONSE_INVALID: The response is not one of the API. It begins with "<html>Sign in</html>"',
    );
    expect(server.requests).toHaveLength(5);
  });

  test('a body of 100 MB is not read', async () => {
    server.add(1);
    let sent = 0;
    breakFirst(1, async (response) => {
      response.writeHead(200, json);
      const chunk = Buffer.alloc(1_000_000, ' ');
      for (; sent < 100 && !response.destroyed; sent += 1)
        if (!response.write(chunk))
          await Promise.race([
            new Promise((resolve) => response.once('drain', resolve)),
            new Promise((resolve) => response.once('close', resolve)),
          ]);
      response.destroy();
      return true;
    });
    shortenWaits();
    expect(await receiverOf().reconcile(pullOf())).toMatchObject({ processed: 1 });
    expect(logged[0]).toContain('The response has more than 4 MB.');
    expect(sent).toBeLessThan(50);
  });

  test('a server that hangs ends a run at timeoutMs, and one that refuses connections is an error then', async () => {
    server.interrupt = () => true;
    expect(await receiverOf().reconcile(pullOf(), { timeoutMs: 200 })).toMatchObject({ end: 'stopped', seen: 0 });
    await server.close();
    await expect(receiverOf().reconcile(pullOf(), { timeoutMs: 800 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test.each<[name: string, fetch: NonNullable<GraphqlPullOptions['fetch']>]>([
    ['fetch', () => new Promise(() => {})],
    ['body', async () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{')) }))],
  ])('a %s that never ends, whatever its signal says, is given up', async (_, hanging) => {
    const receiver = receiverOf({ store: memoryStore() });
    const pull = pullOf({ fetch: hanging, waitSeconds: 20 });
    const abort = new AbortController();
    const stopped = receiver.reconcile(pull, { signal: abort.signal });
    setImmediate(() => abort.abort());
    expect(await stopped).toMatchObject({ end: 'stopped', seen: 0 });

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const run = receiver.reconcile(pull, { timeoutMs: 90_000 }).catch((thrown: unknown) => thrown);
    for (let second = 0; second < 90; second += 1) await vi.advanceTimersByTimeAsync(1_000);
    expect(await run).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'UNAVAILABLE: The request failed: The API did not respond within 50000 ms.',
    });
    expect(logged).toEqual([expect.stringMatching(/^PULL_RETRY: .* within 50000 ms\. The pull of/)]);
  });

  // A proxy in front of the API can add the second value.
  test.each(['2', '2, 2'])('after 429, it waits as long as Retry-After says: %s', async (retryAfter) => {
    server.add(1);
    breakFirst(1, (response) => {
      respondWith(response, { errors: [error('RATE_LIMITED')] }, 429, { 'retry-after': retryAfter });
      return true;
    });
    const waits = shortenWaits();
    expect(await receiverOf().reconcile(pullOf())).toMatchObject({ processed: 1 });
    expect(waits).toContain(2_000);
    expect(logged).toEqual([]);
  });

  test('429 for each request is logged, and an error at timeoutMs', async () => {
    server.interrupt = (response) => {
      respondWith(response, { errors: [error('RATE_LIMITED')] }, 429, { 'retry-after': '1' });
      return true;
    };
    const run = receiverOf().reconcile(pullOf(), { timeoutMs: 4_000 });
    await expect(run).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'UNAVAILABLE: The bucket of the API client is empty.',
    });
    // Once a second, or less often on a busy machine.
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.filter((line) => !line.includes('The bucket of the API client is empty.'))).toEqual([]);
  });

  test('refusals are errors at once, and a redirect gets no credentials', async () => {
    server.add(1);
    const receiver = receiverOf();
    const refused: [options: Partial<GraphqlPullOptions>, message: string][] = [
      [{ subscriptionId: 'gid://service/WebhookSubscription/8' }, 'SUBSCRIPTION_NOT_FOUND'],
      [{ credentials: { ...credentials, apiKey: 'wrong' } }, 'REFUSED: The API responded 401 UNAUTHENTICATED'],
    ];
    for (const [options, message] of refused)
      await expect(receiver.reconcile(pullOf(options))).rejects.toThrow(message);
    const other = await forTest(new PullServer().start());
    server.interrupt = (response) => (response.writeHead(307, { location: other.url }).end(), true);
    await expect(receiver.reconcile(pullOf())).rejects.toThrow('REFUSED: The API responded 307');
    expect(other.requests).toEqual([]);
    expect(handled).toEqual([]);
  });

  test.each([
    ['jumps', [1, 2, 4], 4],
    ['repeats', [1, 2, 2], 3],
    ['goes back', [1, 3, 2], 3],
    ['does not start at the first kept one', [2, 3], 3],
    ['is beyond the last one', [1, 2, 3], 2],
  ])('a page whose sequence %s is an error, and nothing of it is processed', async (_, sequences, lastSequence) => {
    const added = server.add(4);
    server.interrupt = (response) => {
      const edges = sequences.map((sequence, index) => ({ sequence, node: { ...added[index] } }));
      return respondWithPage(response, { edges, lastSequence });
    };
    await expect(receiverOf().reconcile(pullOf())).rejects.toMatchObject({ code: 'SEQUENCE_GAP' });
    expect(handled).toEqual([]);
  });

  test('an empty first page is an error if events are kept', async () => {
    server.add(3);
    server.interrupt = (response) => respondWithPage(response, { edges: [], lastSequence: 3 });
    await expect(receiverOf().reconcile(pullOf())).rejects.toThrow('after 0 comes nothing, and the last one is 3');
    server.interrupt = null;
    expect(await receiverOf().reconcile(pullOf())).toMatchObject({ processed: 3, watermark: 3 });
  });

  test('the page of another subscription, or an older state of the server, is an error', async () => {
    server.add(5);
    const receiver = receiverOf();
    await receiver.reconcile(pullOf());
    server.events = [];
    server.lastSequence = 0;
    server.add(3);
    await expect(receiver.reconcile(pullOf())).rejects.toMatchObject({ code: 'SEQUENCE_GAP' });
    server.lastSequence = 20;
    server.events = server.add(1);
    const [event] = server.events;
    const edges = [{ sequence: 21, node: event }];
    server.interrupt = (response) => respondWithPage(response, { edges, lastSequence: 21, firstKeptSequence: 21 });
    await expect(receiver.reconcile(pullOf())).rejects.toThrow('after 5 comes 21');
    expect(handled).toHaveLength(5);
  });
});

test('after a restore of the server, no event is passed silently, and a reset of the position finds all', async () => {
  const receiver = receiverOf();
  const kept = server.add(150);
  server.add(30);
  await receiver.reconcile(pullOf());
  expect(handled).toHaveLength(180);
  // The last 30 are lost.
  server.events = [...kept];
  server.lastSequence = 150;
  server.interrupt = (response, { variables: { after } }) => {
    if (after !== 'cursor-of-7-180') return false;
    respondWith(response, { errors: [error('BAD_USER_INPUT')] });
    return true;
  };
  await expect(receiver.reconcile(pullOf())).rejects.toMatchObject({ code: 'REFUSED' });
  for (const from of ['earliest', { since: new Date(0) }] as const)
    await expect(receiver.reconcile(pullOf(), { from })).rejects.toThrow('has lost the event 180');
  // Other events get their sequences.
  const others = server.add(60).map((event) => ({ ...event, deliveryId: `${event.deliveryId}1` }));
  server.events = [...kept, ...others];
  for (const from of ['earliest', { since: new Date(0) }] as const)
    await expect(receiver.reconcile(pullOf(), { from })).rejects.toThrow('has lost the event 180');
  expect(handled).toHaveLength(180);
  await pool.query('update webhook_receipt_pull set position = null where subscription_id = $1', [subscriptionId]);
  expect(await receiver.reconcile(pullOf())).toMatchObject({ processed: 60, duplicate: 150, watermark: 210 });
  expect(handled.slice(180)).toEqual(idsOf(others));
});

test('a store that is unavailable is waited for, and no event is passed', async () => {
  server.add(2);
  let fails = 2;
  const store = postgresStore(pool);
  const failing: typeof store = {
    ...store,
    async once(...parameters) {
      fails -= 1;
      if (fails >= 0) throw new Error('connect ECONNREFUSED');
      return store.once(...parameters);
    },
  };
  shortenWaits();
  expect(await receiverOf({ store: failing }).reconcile(pullOf())).toMatchObject({
    processed: 2,
    held: [],
    watermark: 2,
  });
});

test('credentials can come from a function, and malformed options throw', async () => {
  server.add(1);
  let calls = 0;
  const loaded = pullOf({
    schemaVersion: '2026-11-01',
    credentials: async () => {
      calls += 1;
      return calls === 1 ? { ...credentials, apiKey: 'first' } : credentials;
    },
  });
  await expect(receiverOf().reconcile(loaded)).rejects.toMatchObject({ code: 'REFUSED' });
  expect(await receiverOf().reconcile(loaded)).toMatchObject({ processed: 1 });
  expect(server.requests.at(-1)?.headers).toMatchObject({
    'x-service-schema-version': '2026-11-01',
    'x-service-client-id': 'client',
  });
  const empty = { ...credentials, apiKey: '' };
  await expect(receiverOf().reconcile(pullOf({ credentials: () => empty }))).rejects.toThrow(
    'credentials.apiKey must be',
  );
  expect(() => pullOf({ credentials: empty })).toThrow(
    new TypeError('credentials.apiKey must be a string that is not empty.'),
  );
  expect(() => pullOf({ waitSeconds: 21 })).toThrow(TypeError);
  expect(() => pullOf({ url: 'ftp://example.com' })).toThrow(TypeError);
  expect(() => pullOf({ subscriptionId: '' })).toThrow(TypeError);
  for (const options of [{ concurrency: 0 }, { timeoutMs: 0 }, { leaseMs: 10 }, { maxAttempts: 0 }, { minAgeMs: -1 }])
    await expect(receiverOf().reconcile(pullOf(), options)).rejects.toThrow(TypeError);
  // @ts-expect-error -- as JavaScript can call it
  await expect(receiverOf().reconcile(pullOf(), { from: 'latest' })).rejects.toThrow(TypeError);
});

test('a receiver without secrets refuses requests, and one whose secrets are undefined by mistake throws', async () => {
  const receiver = receiverOf();
  const response = await receiver.fetch(new Request('http://localhost', { method: 'POST', body: '{}' }));
  expect(await response.json()).toEqual({ code: 'SECRET_MISSING' });
  // @ts-expect-error -- as JavaScript can call it
  expect(() => receiverOf({ secrets: undefined })).toThrow('secrets must be an array of strings.');
});

test('10,000 events catch up at the price of the default bucket', async () => {
  server.add(10_000);
  // As the API charges: 2,000 points at first, 200 a second, of which a page needs 490, and what it returned in the end.
  const bucket = { points: 2_000, ms: 0 };
  let limited = 0;
  shortenWaits();
  server.interrupt = (response, { variables }) => {
    if (bucket.points < 490) {
      limited += 1;
      const seconds = Math.ceil((490 - bucket.points) / 200);
      bucket.points += seconds * 200;
      bucket.ms += seconds * 1_000;
      respondWith(response, { errors: [error('RATE_LIMITED')] }, 429, { 'retry-after': String(seconds + 0.5) });
      return true;
    }
    const payload = server.events[0]?.payload?.length ?? 0;
    bucket.points -= 1 + variables.first * (0.25 + 0.5 + 0.09 + 0.03 + payload / 1_000 + 0.06);
    return false;
  };
  const { processed } = await receiverOf({ store: memoryStore() }).reconcile(pullOf());
  process.stdout.write(`10,000 events wait ${bucket.ms / 1_000} s for the bucket, in ${limited} responses with 429\n`);
  expect(processed).toBe(10_000);
  expect(bucket.ms).toBeLessThan(60_000);
});
