import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signWebhook } from '@deedwire/webhook-signing';
import { beforeAll, describe, expect, it } from 'vitest';
import { hmac, linesOf, receivers, secret, startReceiver } from '../support/receivers.ts';
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
});

describe('a receiver with each kit', () => {
  it.each(receivers)('processes each message once in PostgreSQL: $name', { timeout: timeoutMs }, async (receiver) => {
    const { table, message, handshake, unhandledStatus } = receiver;
    const { send, run, child } = await startReceiver(receiver);
    const effects = async (): Promise<number> => (await run(`select from ${table}`)).length;
    const repeated = await Promise.all(Array.from({ length: 8 }, () => send(message(1))));
    expect(repeated.map(({ status }) => status)).toContain(200);
    expect(await send(message(1))).toMatchObject({ status: 200 });
    expect(await effects()).toBe(1);
    const altered = await send({ ...message(2), body: message(3).body });
    expect([400, 401]).toContain(altered.status);
    expect(await send(message(4, true))).toMatchObject({ status: unhandledStatus });
    expect(await effects()).toBe(1);
    await run(`alter table ${table} rename to missing`);
    expect(await send(message(5))).toMatchObject({ status: 500 });
    await run(`alter table missing rename to ${table}`);
    expect(await send(message(5))).toMatchObject({ status: 200 });
    expect(await effects()).toBe(2);
    for (const sent of handshake === undefined ? [] : [handshake()])
      expect(await send(sent)).toEqual({ status: 200, text: sent.body });
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  // The README of the receiver kit says so.
  it('accepts, with the other kits, lax timestamps, altered bytes and repeats', async () => {
    const [svix, standardWebhooks, { Stripe }, { Webhooks }] = await Promise.all([
      import('svix'),
      import('standardwebhooks'),
      import('stripe'),
      import('@octokit/webhooks'),
    ]);
    const seconds = Math.floor(Date.now() / 1000);
    // Each byte that is no UTF-8 is decoded to U+FFFD.
    const signedBody = '{"object":"event","name":"\uFFFD"}';
    const otherBytes = Buffer.from(signedBody.replace('\uFFFD', '\u00FF'), 'latin1');
    for (const { Webhook } of [svix, standardWebhooks]) {
      const webhook = new Webhook(secret);
      const headers = { ...signWebhook({ id: 'a', timestamp: seconds, body: signedBody, secret }) };
      expect(() => webhook.verify(otherBytes, headers)).not.toThrow();
      const lax = { ...headers, 'webhook-timestamp': `${seconds}abc` };
      expect(() => webhook.verify(signedBody, lax)).not.toThrow();
    }
    const tomorrow = seconds + 86_400;
    const signature = `t=${tomorrow},v1=${hmac(`${tomorrow}.${signedBody}`).digest('hex')}`;
    const { webhooks } = new Stripe('sk_test_unused');
    expect(webhooks.constructEvent(otherBytes, signature, secret)).toMatchObject({ object: 'event' });
    const octokit = new Webhooks({ secret });
    let handled = 0;
    octokit.on('issues.opened', () => void (handled += 1));
    const payload = '{"action":"opened"}';
    for (let attempt = 0; attempt < 2; attempt += 1)
      await octokit.verifyAndReceive({
        id: 'a',
        name: 'issues',
        payload,
        signature: `sha256=${hmac(payload).digest('hex')}`,
      });
    expect(handled).toBe(2);
  });

  it('has as many lines as the README of the receiver kit says', async () => {
    const readme = await readFile(join(root, 'packages/webhook-receiver/README.md'), 'utf8');
    const [, ...cells] =
      /^\| lines of a program.*$/m
        .exec(readme)?.[0]
        .split('|')
        .map((cell) => cell.trim()) ?? [];
    const lines = await Promise.all(receivers.map(({ name }) => linesOf(name)));
    expect(cells.slice(1, -1)).toEqual(lines.map(String));
  });
});
