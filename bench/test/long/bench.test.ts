import { expect, it, vi } from 'vitest';
import { machine, positive, reportOf, root, timeoutMs } from '../support/run-bench.ts';

// `checks.test.ts` has the two quick ones. These start servers, and take minutes of CPU time even with `--quick`.

vi.setConfig({ testTimeout: timeoutMs });

// The bench fails unless all contestants answer the same, and unless every response is complete.
it('graphql compares our apps with three servers', async () => {
  const names = ['deedwire', 'mercurius-jit', 'mercurius-guarded', 'mercurius', 'apollo'];
  const figures = { requestsPerSecond: positive, p50Ms: positive, p99Ms: positive, residentBytes: positive };
  const results = names.map((name) => ({ name, ...figures, cpuMicroseconds: expect.any(Number) }));
  const ratios = { 'mercurius-jit': positive, 'mercurius-guarded': positive, mercurius: positive, apollo: positive };
  expect(await reportOf('graphql')).toMatchObject({
    bench: 'graphql',
    quick: true,
    machine,
    ratios,
    p99Ratios: ratios,
    shapes: ['members-10', 'scalar', 'members-100', 'referrals-100'].map((name) => ({
      name,
      connections: [32, 1].map((connections) => ({ connections, results, ratios, p99Ratios: ratios })),
    })),
  });
});

// The bench fails unless each delivery arrives once, each peer settles all, and each of ours has one attempt.
it('delivery compares our engine with three queues, and measures its other parts', async () => {
  const perSecond = { deliveriesPerSecond: positive };
  const latency = { events: positive, p50Ms: positive, p99Ms: positive, maxMs: positive };
  const memory = {
    resident: positive,
    residentPeak: positive,
    external: positive,
    heap: { new: positive, old: positive },
  };
  const names = ['deedwire', 'bare', 'pg-boss', 'graphile-worker'];
  const ratios = { bare: positive, 'pg-boss': positive, 'graphile-worker': positive };
  expect(await reportOf('delivery')).toMatchObject({
    bench: 'delivery',
    quick: true,
    machine,
    ...perSecond,
    workloads: ['a', 'b', 'c'].map((name) => ({
      name,
      // BullMQ follows where Redis is installed.
      results: expect.arrayContaining(
        names.map((each) => expect.objectContaining({ name: each, perSecond: positive })),
      ),
      ratios,
    })),
    latency: { idle: latency, halfLoad: { ...latency, ...perSecond } },
    statements: { perDelivery: expect.any(Number), idlePerSecond: positive },
    history: {
      sizes: [1000, 3000].map((storedDeliveries) => ({ storedDeliveries, ...perSecond })),
      growth: { newEvents: positive, backlog: positive },
    },
    hanging: {
      alone: latency,
      start: latency,
      beside: latency,
      p99Ratio: positive,
      p99Ratios: [positive],
      endpoints: 100,
      waiting: 2000,
    },
    workers: { results: [1, 2, 3].map((workers) => ({ workers, ...perSecond })) },
    store: perSecond,
    account: { ...perSecond, bound: 1450 },
    write: {
      results: ['deedwire', 'deedwire, a new idempotency key each', 'pg-boss', 'graphile-worker'].map((name) => ({
        name,
        eventsPerSecond: positive,
        rateRatio: positive,
      })),
    },
    fair: {
      crowd: { connections: 128, spreadP99Ms: positive, oneClientP99Ms: positive, p99Ratio: positive },
      locked: { connections: 32, alonePerSecond: positive, besidePerSecond: positive, rateRatio: positive },
    },
    memory: {
      eventsPerSecond: positive,
      apps: ['partner-api', 'webhook-worker'].map((name) => ({ name, before: memory, after: memory })),
    },
  });
});

// The bench fails unless each replay queues exactly what it matches.
it('replay measures the rate of replays, new events beside one, and a larger history', async () => {
  const latency = { events: positive, p50Ms: positive, p99Ms: positive, maxMs: positive };
  expect(await reportOf('replay')).toMatchObject({
    bench: 'replay',
    quick: true,
    machine,
    rate: {
      receivers: [20, 100, 400].map((responseMs) => ({
        responseMs,
        idlePerSecond: positive,
        replayPerSecond: positive,
        rateRatio: positive,
      })),
    },
    beside: {
      responseMs: 100,
      failures: 1_000,
      replayedPerSecond: positive,
      live: { alone: latency, beside: latency, longerMs: expect.any(Number) },
      others: { alone: latency, beside: latency, p99Ratio: positive },
    },
    growth: {
      kinds: ['failed deliveries', 'all deliveries'].map((name) => ({
        name,
        sizes: [10_000, 20_000].map((storedDeliveries) => ({
          storedDeliveries,
          times: expect.objectContaining({ 'feed-replay': positive }),
        })),
        growth: positive,
      })),
    },
  });
});

// The bench fails unless each event arrives at each endpoint. Without the URL of another service, only ours runs.
it('services measures the whole way from the call to the delivery', async () => {
  const rate = { perSecond: positive, lowestPerSecond: positive, highestPerSecond: positive, rateRatio: 1 };
  const latency = { events: 10, missing: 0, p50Ms: positive, p99Ms: positive };
  expect(await reportOf('services')).toMatchObject({
    bench: 'services',
    quick: true,
    machine,
    one: [{ name: 'deedwire', ...rate }],
    twenty: [{ name: 'deedwire', ...rate }],
    idle: [{ name: 'deedwire', ...latency }],
    hanging: [{ name: 'deedwire', ...latency }],
  });
});

const writeResult = (names: readonly unknown[]) => ({
  results: names.map((name) => ({ name, eventsPerSecond: positive, rateRatio: positive, cpuRatio: positive })),
});

// Beside itself: the other checkout has the same commit.
it('versions measures our apps beside those of another checkout', async () => {
  const other = expect.stringMatching(/^[0-9a-f]{8}/);
  const interval = { mean: positive, low: positive, high: positive };
  expect(await reportOf('versions', '--beside', root)).toMatchObject({
    bench: 'versions',
    deliveries: {
      workloads: ['a', 'b', 'c'].map((name) => ({
        name,
        results: ['deedwire', other].map((each) => ({ name: each, perSecond: positive })),
        rateRatio: positive,
      })),
      rateRatio: interval,
    },
    write: { ...writeResult(['deedwire', other]), rateRatio: interval },
    queries: {
      shapes: Array.from({ length: 4 }, () => ({
        results: [32, 1].flatMap((connections) =>
          [other, 'deedwire'].map((name) => ({ name, connections, perSecond: positive, rateRatio: interval })),
        ),
      })),
    },
  });
});
