import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { execute, machine, positive, reportOf, timeoutMs } from '../support/run-bench.ts';

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
it('append compares append_event() with a row in an outbox table', async () => {
  const ratio = { mean: positive, low: positive, high: positive };
  const figures = Array.from({ length: 4 }, () => ({
    title: expect.any(String),
    appendEvent: positive,
    outbox: positive,
    ratio,
  }));
  expect(await reportOf('append')).toMatchObject({ bench: 'append', quick: true, machine, figures });
});

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

// Its tables, its CLI and its API differ from those of this tree.
const oldest = 'bd1c04c9';

async function succeed(program: string, args: readonly string[], cwd?: string): Promise<void> {
  const { code, stderr } = await execute(program, args, {}, cwd);
  if (code !== 0) throw new Error(stderr);
}

function withCpu(title: string): string[] {
  return [title, ...['partner-api', 'webhook-worker', 'PostgreSQL'].map((process) => `${title}: CPU of ${process}`)];
}

it('versions measures our apps beside those of the oldest commit that a release is compared with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-older-'));
  try {
    await succeed('git', ['worktree', 'add', '--detach', folder, oldest]);
    await succeed('npx', ['-y', 'pnpm', 'install', '--frozen-lockfile'], folder);
    const interval = { mean: positive, low: positive, high: positive };
    // CPU time is counted in ticks of the clock: in a quick round, a process can use none.
    const cpu = { ours: expect.any(Number), other: expect.any(Number), ratio: expect.any(Object) };
    const rate = { ours: positive, other: positive, ratio: interval };
    const figures = (titles: readonly string[]) => ({
      beside: oldest,
      figures: titles.map((title) => ({ title, ...(title.includes('CPU') ? cpu : rate) })),
    });
    const workloads = [
      '64 accounts with one subscription each',
      'One account with 20 subscriptions',
      '1,000 accounts with 0.1 % of the deliveries each',
    ];
    const connections = ['32 connections', '1 connection'].flatMap((each) => [each, `${each}: CPU`]);
    const [lender, page] = ['lender with', 'a page of 100 referrals, half of them with a matter'];
    expect(await reportOf('versions', '--beside', folder)).toMatchObject({
      bench: 'versions',
      write: figures(['plain', 'keyed'].flatMap((each) => withCpu(`createReferral to webhook, ${each}`))),
      deliveries: figures(workloads.flatMap((title, at) => withCpu(`deliveries, (${'abc'.charAt(at)}) ${title}`))),
      idle: figures(['p50', 'p90'].map((each) => `idle: call to arrival, ${each}`)),
      queries: figures(
        [`${lender} 10 members`, 'one scalar of the lender', `${lender} 100 members`, page].flatMap((title) =>
          connections.map((each) => `${title}, ${each}`),
        ),
      ),
    });
    expect(await reportOf('services', '--beside', folder, '--only', 'one')).toMatchObject({
      one: [{ name: oldest }, { name: 'deedwire' }],
    });
  } finally {
    await succeed('git', ['worktree', 'remove', '--force', folder]);
  }
});

// The bench fails unless each event arrives that was committed, and not more often than a pressure explains.
it('pressure holds our contestant back in ten ways, and two queues in two of them', async () => {
  const window = { committedPerSecond: positive, arrivedPerSecond: expect.any(Number) };
  const phase = (contestant: string) => ({
    contestant,
    perSecond: positive,
    before: window,
    during: window,
    after: window,
  });
  const ours = { phases: [phase('deedwire')] };
  const beside = { phases: ['deedwire', 'pg-boss', 'graphile-worker'].map(phase) };
  expect(await reportOf('pressure')).toMatchObject({
    bench: 'pressure',
    quick: true,
    machine,
    snapshot: beside,
    readers: ours,
    burst: ours,
    maximum: beside,
    restart: ours,
    backends: ours,
    connections: ours,
    kills: ours,
    disk: expect.toSatisfy((result: object) => 'leftOut' in result || 'phases' in result),
    soak: { events: positive, bytesPerEvent: expect.any(Number) },
  });
});
