import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@deedwire/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { redisStore } from '../../src/redis.ts';
import type { WebhookStore } from '../../src/store.ts';
import { nodeAdapter } from '../support/adapters.ts';
import { deliveryOf } from '../support/delivery.ts';
import { effectsAcrossHang, startRelay } from '../support/redis-relay.ts';
import { isWithoutRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { Subject } from '../support/subject.ts';

if (isWithoutRedis) process.stdout.write('redis-server is not installed, so the Redis store is not tested.\n');

// What a client can do to replies.
const parsed = (reply: unknown): unknown => {
  try {
    return typeof reply === 'string' ? JSON.parse(reply) : reply;
  } catch {
    return reply;
  }
};
const asBuffers = (reply: unknown): unknown => (typeof reply === 'string' ? Buffer.from(reply) : reply);
const asTexts = (reply: unknown): unknown => (typeof reply === 'number' ? String(reply) : reply);
const absentAsUndefined = (reply: unknown): unknown => reply ?? undefined;

describe.skipIf(isWithoutRedis)('the Redis store', () => {
  let redis: RedisServer;
  let store: WebhookStore;
  let ids = 0;
  let id = '';
  let effects = 0;

  beforeAll(async () => {
    redis = await startRedis();
    store = storeWith();
  });

  beforeEach(() => {
    ids += 1;
    id = `delivery_${ids}`;
    effects = 0;
  });

  afterAll(() => redis.remove());

  function storeWith(leaseMs?: number): WebhookStore {
    return redisStore({
      send: ([name, ...parameters]) => redis.client.call(name, ...parameters),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
  }

  const effect = async (): Promise<void> => {
    await sleep(20);
    effects += 1;
  };

  test('has one effect for 50 concurrent calls', async () => {
    const results = await Promise.all(Array.from({ length: 50 }, () => store.once(id, effect)));
    expect(results.filter((result) => result === 'processed')).toHaveLength(1);
    expect(results.filter((result) => result === 'busy')).toHaveLength(49);
    expect(await store.once(id, effect)).toBe('duplicate');
    expect(effects).toBe(1);
  });

  test('keeps ids for 40 days', async () => {
    await store.once(id, effect);
    const remainingMs = await redis.client.pttl(`{webhook}:${id}`);
    expect(remainingMs).toBeGreaterThan(39.9 * 86_400_000);
    expect(remainingMs).toBeLessThanOrEqual(40 * 86_400_000);
  });

  test('releases the lease of a handler that throws', async () => {
    const failed = store.once(id, () => Promise.reject(new RangeError('The handler failed.')));
    await expect(failed).rejects.toThrow(new RangeError('The handler failed.'));
    expect(await store.once(id, effect)).toBe('processed');
  });

  test('renews the lease while the handler runs', async () => {
    // Long enough for a busy machine, which renews it late.
    const short = storeWith(6_000);
    const first = short.once(id, () => sleep(9_000));
    for (let round = 0; round < 14; round += 1) {
      await sleep(500);
      expect(await short.once(id, effect)).toBe('busy');
    }
    expect(await first).toBe('processed');
    expect(effects).toBe(0);
  });

  test('processes the delivery of a process that stopped after the lease', async () => {
    await redis.client.set(`{webhook}:${id}`, 'the lease of another process');
    expect(await store.once(id, effect)).toBe('busy');
    await redis.client.pexpire(`{webhook}:${id}`, 300);
    await eventually(async () => expect(await store.once(id, effect)).toBe('processed'));
  });

  test('takes a lease for its own if the client sends the command again after a lost reply', async () => {
    let sent = 0;
    const repeating = redisStore({
      async send([name, ...parameters]) {
        sent += 1;
        if (sent === 1) await redis.client.call(name, ...parameters);
        return redis.client.call(name, ...parameters);
      },
    });
    expect(await repeating.once(id, effect)).toBe('processed');
    expect(effects).toBe(1);
  });

  test('replaces a connection that no longer responds, with the options of the README for ioredis', async () => {
    const relay = await startRelay(redis);
    const client = new Redis({ port: relay.port, maxRetriesPerRequest: 1, socketTimeout: 500 });
    client.on('error', () => {});
    onTestFinished(() => client.disconnect());
    expect(await effectsAcrossHang(relay, ([name, ...parameters]) => client.call(name, ...parameters))).toBe(2);
  });

  test('finds the new primary after a failover, with the options of the README for ioredis', async () => {
    const [relay, primary] = await Promise.all([startRelay(redis), startRedis()]);
    onTestFinished(() => primary.remove());
    const client = new Redis({
      port: relay.port,
      maxRetriesPerRequest: 1,
      reconnectOnError: (error) => error.message.includes('READONLY'),
    });
    client.on('error', () => {});
    onTestFinished(() => client.disconnect());
    const replaced = redisStore({ send: ([name, ...parameters]) => client.call(name, ...parameters) });
    expect(await replaced.once(id, effect)).toBe('processed');
    await redis.client.replicaof('127.0.0.1', Number(primary.client.options.port));
    onTestFinished(async () => void (await redis.client.replicaof('NO', 'ONE')));
    relay.forwardTo(primary);
    const other = `${id}_other`;
    await expect(replaced.once(other, effect)).rejects.toThrow('READONLY');
    await expect
      .poll(() => replaced.once(other, effect).catch((error: Error) => error.message))
      .toMatch(/processed|duplicate/);
    expect(effects).toBe(2);
  });

  test('processes a delivery after the lease of a command that ioredis gave up and Redis ran later', async () => {
    // A client that gives up each command after a second.
    const client = new Redis({ port: Number(redis.client.options.port), commandTimeout: 1_000 });
    client.on('error', () => {});
    onTestFinished(() => client.disconnect());
    await client.ping();
    const impatient = redisStore({ send: ([name, ...parameters]) => client.call(name, ...parameters), leaseMs: 1_000 });
    await redis.client.client('PAUSE', 2_000);
    await expect(impatient.once(id, effect)).rejects.toThrow('Command timed out');
    expect(effects).toBe(0);
    const results: string[] = [];
    await expect
      .poll(
        async () =>
          results.push(await impatient.once(id, effect).catch((error: Error) => error.message)) && results.at(-1),
      )
      .toBe('processed');
    for (const result of results) expect(['Command timed out', 'busy', 'processed']).toContain(result);
    expect(await impatient.once(id, effect)).toBe('duplicate');
  });

  test('does not release or renew a lease that another process holds meanwhile', async () => {
    const short = storeWith(1_000);
    const failed = short.once(id, async () => {
      await redis.client.set(`{webhook}:${id}`, 'the lease of another process', 'PX', 60_000);
      await sleep(500);
      throw new Error('The handler failed.');
    });
    await expect(failed).rejects.toThrow('The handler failed.');
    expect(await redis.client.get(`{webhook}:${id}`)).toBe('the lease of another process');
    expect(await redis.client.pttl(`{webhook}:${id}`)).toBeGreaterThan(50_000);
  });

  test('processes deliveries again after forget, by id and by time, but keeps leases', async () => {
    await store.once(id, effect);
    await redis.client.set('{webhook}:leased', 'a lease');
    expect(await store.forget({ ids: [id, 'unknown', 'leased'] })).toBe(1);
    expect(await redis.client.get('{webhook}:leased')).toBe('a lease');
    expect(await store.once(id, effect)).toBe('processed');
    expect(await store.forget({ since: new Date(Date.now() + 60_000) })).toBe(0);
    const many = Array.from({ length: 1_100 }, (_, index) => `many_${index}`);
    await Promise.all(many.map((each) => store.once(each, async () => {})));
    expect(await store.forget({ since: new Date(Date.now() - 60_000) })).toBeGreaterThan(1_100);
    expect(await store.once(id, effect)).toBe('processed');
    expect(effects).toBe(3);
  });

  const through = (change: (reply: unknown) => unknown): WebhookStore =>
    redisStore({
      async send([name, ...parameters]) {
        const reply = await redis.client.call(name, ...parameters);
        return Array.isArray(reply) ? reply.map(change) : change(reply);
      },
    });

  const option = /automaticDeserialization: false/;

  test('throws if the client parses a position, names the option, and keeps the position', async () => {
    const { positions } = through(parsed);
    expect(await positions?.take(id, 'a', 60_000)).toEqual({ position: null });
    expect(await positions?.keep(id, 'a', 60_000, '{"sequence":4}')).toBe(true);
    await expect(positions?.take(id, 'a', 60_000)).rejects.toThrow(option);
    await positions?.release(id, 'a');
    expect(await store.positions?.take(id, 'b', 60_000)).toEqual({ position: '{"sequence":4}' });
    expect(await store.positions?.take(id, 'c', 60_000)).toBeNull();
  });

  test('throws if the client changes the replies about deliveries', async () => {
    await store.once('4711', effect);
    await expect(through(parsed).forget({ since: new Date(0) })).rejects.toThrow(option);
    const wrapped = redisStore({ send: async () => ({ result: [] }) });
    await expect(wrapped.forget({ since: new Date(0) })).rejects.toThrow('replied with Object, not with array');
    await store.once(id, effect);
    await expect(through(asBuffers).once(id, effect)).rejects.toThrow('replied with Uint8Array, not with text or nil');
    await expect(through(absentAsUndefined).once(`${id}_new`, effect)).rejects.toThrow('replied with Undefined');
    await expect(through(asTexts).forget({ ids: [id] })).rejects.toThrow('replied with String, not with integer');
    await expect(through(asTexts).positions?.keep(id, 'a', 60_000, null)).rejects.toThrow('replied with String');
    expect(effects).toBe(2);
  });

  test('responds 503 without calling the handler while Redis is unavailable, and remembers across a restart', async () => {
    const subject = await Subject.start(nodeAdapter, {
      create: (options) => createWebhookReceiver({ ...options, store }),
    });
    try {
      expect(await subject.send(deliveryOf({ id }))).toMatchObject({ json: { result: 'processed' } });
      await redis.stop();
      const other = `${id}_other`;
      expect(await subject.send(deliveryOf({ id: other }))).toMatchObject({
        status: 503,
        json: { code: 'STORE_UNAVAILABLE' },
      });
      expect(subject.handled).toHaveLength(1);
      await redis.start();
      expect(await subject.send(deliveryOf({ id }))).toMatchObject({ json: { result: 'duplicate' } });
      expect(await subject.send(deliveryOf({ id: other }))).toMatchObject({ json: { result: 'processed' } });
    } finally {
      await subject.stop();
    }
  });

  test('responds 503 if Redis becomes unavailable during the handler', async () => {
    const short = storeWith(1_000);
    const subject = await Subject.start(nodeAdapter, {
      create: (options) => createWebhookReceiver({ ...options, store: short }),
    });
    subject.work = () => redis.stop();
    try {
      expect(await subject.send(deliveryOf({ id }))).toMatchObject({ json: { code: 'STORE_UNAVAILABLE' } });
      subject.work = () => {};
      await redis.start();
      // At least once: the handler runs again after the lease.
      await eventually(async () => {
        expect(await subject.send(deliveryOf({ id }))).toMatchObject({ json: { result: 'processed' } });
      });
      expect(subject.handled).toHaveLength(2);
    } finally {
      await subject.stop();
    }
  });
});

test('refuses a lease that is not an integer from one second to one day', () => {
  for (const leaseMs of [999, 1000.5, NaN, 86_400_001])
    expect(() => redisStore({ send: async () => null, leaseMs })).toThrow(
      'leaseMs must be an integer from 1000 to 86400000.',
    );
});
