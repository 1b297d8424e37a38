import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
// Guard against hanging only.
const timeoutMs = 1_200_000;

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

async function execute(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(program, args, options).then(
    ({ stdout, stderr }): Outcome => ({ code: 0, stdout, stderr }),
    (error: Outcome) => error,
  );
}

const bench = (...args: string[]): Promise<Outcome> => execute('node', ['scripts/bench.ts', ...args]);
const tool = (name: string, ...args: string[]): Promise<Outcome> =>
  execute(join(root, 'node_modules/.bin', name), args);

async function reportOf(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await bench(...args, '--quick', '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const positive = expect.toSatisfy((value: unknown) => Number.isFinite(value) && Number(value) > 0);
const machine = { node: process.version, platform: expect.any(String), cpu: expect.any(String), cores: positive };

let help: Outcome;

// The command that users run. It installs the peers.
beforeAll(async () => {
  const { packageManager }: { packageManager: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  help = await execute('npx', ['-y', packageManager, 'bench', '--help']);
  if (help.code !== 0) throw new Error(help.stderr);
}, timeoutMs);

it('prints its help', () => {
  expect(help.stdout).toContain('\n  delivery the webhook engine against queues that do the same sending\n');
});

it('passes the type checker and the linter', { timeout: timeoutMs }, async () => {
  expect(await tool('tsc', '-b', 'bench')).toEqual({ code: 0, stdout: '', stderr: '' });
  const lint = ['-c', 'bench/oxlint.json', '--type-aware', '--deny-warnings', '--format=unix', 'bench'];
  expect(await tool('oxlint', ...lint)).toMatchObject({ code: 0, stdout: '' });
});

it('passes its unit tests', { timeout: timeoutMs }, async () => {
  expect(await tool('vitest', 'run', '--project', 'bench')).toMatchObject({ code: 0 });
});

it('exits with 2 for invalid usage', async () => {
  const { code, stdout, stderr } = await bench('toaster');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(
    stderr.startsWith('There is no bench "toaster". Known benches: delivery, graphql, sender, signing, shares.\n'),
  ).toBe(true);
});

it('says that it needs the registry if the peers cannot be installed', { timeout: timeoutMs }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-bench-offline-'));
  try {
    await mkdir(join(folder, 'bench'));
    const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => `bench/${name}`);
    for (const file of [...files, 'scripts/bench.ts']) await cp(join(root, file), join(folder, file));
    const store = { pnpm_config_offline: 'true', pnpm_config_store_dir: join(folder, 'store') };
    const { code, stdout, stderr } = await execute('node', ['scripts/bench.ts', 'signing'], store, folder);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Installing the peers of the benches into bench/node_modules, about 100 MB.\n');
    expect(stderr).toContain('Could not install the peers of the benches. The first run needs the npm registry');
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('with --quick --json', { timeout: timeoutMs }, () => {
  it.each([
    [
      'sender',
      [['delivery', ['undici Client.dispatch', 'undici Pool.dispatch', 'undici Pool.request', 'webhook-sender']]],
    ],
    [
      'signing',
      [
        [
          'signature',
          ['webhook-signing, two signatures', 'webhook-signing, each of two', 'stripe', 'svix', 'standardwebhooks'],
        ],
        [
          'request',
          ['webhook-signing, two signatures', 'webhook-signing, one signature', 'stripe', 'svix', 'standardwebhooks'],
        ],
      ],
    ],
  ] as const)('%s compares our package with its peers', async (name, comparisons) => {
    const figures = { perSecond: positive, cpuMicroseconds: positive, rateRatio: positive, cpuRatio: positive };
    expect(await reportOf(name)).toStrictEqual({
      bench: name,
      quick: true,
      machine,
      rounds: 3,
      roundMs: 50,
      comparisons: comparisons.map(([operation, contestants]) => ({
        title: expect.any(String),
        operation,
        baseline: expect.toSatisfy((baseline: string) => new Set<string>(contestants).has(baseline)),
        results: contestants.map((contestant) => ({ name: contestant, ...figures })),
      })),
    });
  });

  // The bench fails unless all contestants answer the same, and unless every response is complete.
  it('graphql compares our apps with three servers', async () => {
    const names = ['deedwire', 'mercurius-jit', 'mercurius', 'apollo'];
    const figures = { requestsPerSecond: positive, p50Ms: positive, p99Ms: positive, residentBytes: positive };
    const results = names.map((name) => ({ name, ...figures, cpuMicroseconds: expect.any(Number) }));
    const ratios = { 'mercurius-jit': positive, mercurius: positive, apollo: positive };
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

  // The bench fails unless each request of the victim succeeds.
  it('shares measures a client beside each attack', async () => {
    const latency = { requests: positive, p50Ms: positive, p99Ms: positive };
    const atMost200 = expect.toSatisfy((value: unknown) => Number(value) <= 200);
    const measured = { alone: latency, beside: latency, p99Ratio: positive };
    const connections = { ...measured, attack: { opened: positive, open: atMost200 } };
    const documents = ['invalid', 'inputs', 'overlap', 'fragments', 'comment', 'expensive'];
    expect(await reportOf('shares')).toMatchObject({
      bench: 'shares',
      quick: true,
      machine,
      attacks: [
        { name: 'connections', p99Ratio: positive, rounds: [connections, connections] },
        ...documents.map((name) => ({ name, p99Ratio: positive, rounds: [measured, measured] })),
      ],
    });
  });

  // The bench fails unless each delivery arrives once, each peer settles all, and each of ours has one attempt.
  it('delivery compares our engine with three queues, and measures its other parts', async () => {
    const perSecond = { deliveriesPerSecond: positive };
    const latency = { events: positive, p50Ms: positive, p99Ms: positive, maxMs: positive };
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
      hanging: { alone: latency, beside: latency, p99Ratio: positive, endpoints: 100, waiting: 2000 },
      workers: { results: [1, 2, 3].map((workers) => ({ workers, ...perSecond })) },
      store: perSecond,
      account: { ...perSecond, bound: 1450 },
    });
  });
});
