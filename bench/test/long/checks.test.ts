import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bench, execute, machine, type Outcome, positive, reportOf, root, timeoutMs } from '../support/run-bench.ts';

const tool = (name: string, ...args: string[]): Promise<Outcome> =>
  execute(join(root, 'node_modules/.bin', name), args);

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

it('passes its own tests', { timeout: timeoutMs }, async () => {
  const { code, stdout, stderr } = await tool('vitest', 'run', '--project', 'bench');
  expect(code === 0 ? '' : `${stdout}${stderr}`).toBe('');
});

it('exits with 2 for invalid usage', async () => {
  const { code, stdout, stderr } = await bench('toaster');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(
    stderr.startsWith(
      'There is no bench "toaster". Known benches: delivery, replay, graphql, sender, signing, append, portal, pressure, services, versions.\n',
    ),
  ).toBe(true);
});

it('says that it needs the registry if the peers cannot be installed', { timeout: timeoutMs }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-bench-offline-'));
  try {
    await mkdir(join(folder, 'bench'));
    const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => `bench/${name}`);
    for (const file of [...files, 'scripts/bench.ts', 'scripts/install-workspace.ts'])
      await cp(join(root, file), join(folder, file));
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
});
