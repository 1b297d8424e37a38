import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@deedwire/test-postgres';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { processesOf, startDev, whenReady, type DevProcess } from './dev-process.ts';

let home: string;
const running: DevProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  }
  await vi.waitUntil(() => processesOf(home).length === 0, { timeout: 12_000, interval: 100 });
  await rm(home, { recursive: true, force: true });
});

function start(...[env, launcher]: [Record<string, string>?, string[]?]): DevProcess {
  const dev = startDev(home, env, launcher);
  running.push(dev);
  return dev;
}

async function post(caller: { url: string; clientId: string; apiKey: string; organizationId: string }, query: string) {
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Client-Id': caller.clientId,
    'X-Service-API-Key': caller.apiKey,
    'X-Service-Organization-Id': caller.organizationId,
  };
  const response = await fetch(caller.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return { status: response.status, body: await response.json() };
}

test('dev.json holds exactly what others script against, and every credential in it works', async () => {
  const dev = start();
  const file = await whenReady(dev, home);
  const caller = {
    url: expect.stringContaining('http://127.0.0.1:'),
    clientId: expect.any(String),
    apiKey: expect.any(String),
    organizationId: expect.any(String),
  };
  expect(file).toEqual({
    lender: caller,
    partner: caller,
    otherLender: caller,
    otherPartner: caller,
    worker: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
    databaseUrl: expect.stringContaining('postgres://'),
    referrals: expect.arrayContaining([expect.stringMatching(/^gid:\/\/service\/Referral\/\d+$/)]),
  });
  expect(file.referrals.length).toBeGreaterThanOrEqual(20);
  expect(file.otherLender.organizationId).not.toBe(file.lender.organizationId);
  expect(file.otherPartner.organizationId).toBe(file.otherLender.organizationId);
  expect((await stat(join(home, 'dev.json'))).mode & 0o777).toBe(0o600);

  for (const lender of [file.lender, file.otherLender]) {
    expect(await post(lender, '{ lender { name } }')).toMatchObject({
      status: 200,
      body: { data: { lender: { name: expect.any(String) } } },
    });
  }
  for (const partner of [file.partner, file.otherPartner]) {
    expect(await post(partner, '{ partner { name } }')).toMatchObject({
      status: 200,
      body: { data: { partner: { name: expect.any(String) } } },
    });
  }
  const [id] = file.referrals;
  expect((await post(file.partner, `{ referral(id: "${id}") { id status } }`)).body).toEqual({
    data: { referral: { id, status: 'OPEN' } },
  });
  expect((await fetch(`${file.worker.url}/ready`)).status).toBe(200);
});

test('the printed curl lines work in a shell as they are', async () => {
  const dev = start();
  await whenReady(dev, home);
  await vi.waitFor(() => expect(dev.output()).toContain('webhookEventTypes'));
  const commands = dev.output().match(/^curl (?:.*\\\n)+.*$/gm) ?? [];
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toEqual({ data: expect.any(Object) });
  }
});

test('data and credentials outlive a stop', async () => {
  const first = start();
  const before = await whenReady(first, home);
  process.kill(-(first.child.pid ?? 0), 'SIGINT');
  expect(await first.ended).toBe(0);
  await expect(access(join(home, 'dev.json'))).rejects.toThrow('ENOENT');

  const after = await whenReady(start(), home);
  expect(after.partner.apiKey).toBe(before.partner.apiKey);
  expect(after.referrals).toEqual(before.referrals);
});

test('an app that ends by itself is started again on its port', async () => {
  const dev = start();
  const { worker } = await whenReady(dev, home);
  const [pid] =
    processesOf(home)
      .find((line) => line.includes('apps/webhook-worker'))
      ?.split(' ') ?? [];
  process.kill(Number(pid), 'SIGKILL');
  await vi.waitFor(() => expect(dev.output()).toContain('webhook-worker ended (SIGKILL)'), { timeout: 5_000 });
  await vi.waitFor(async () => expect((await fetch(`${worker.url}/ready`)).status).toBe(200), { timeout: 10_000 });
});

describe('what keeps it from starting is said in a sentence', () => {
  test('another one on the same home', async () => {
    await whenReady(start(), home);
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toBe(
      `Another \`pnpm dev\` runs in ${home}. Stop it, or set DEEDWIRE_HOME to another folder for this one.\n`,
    );
  });

  test('a port that is taken, by the name of its variable', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const dev = start({ PARTNER_API_PORT: String(port) });
    expect(await dev.ended).toBe(1);
    expect(dev.output()).toBe(
      `PARTNER_API_PORT: port ${port} is taken. Set PARTNER_API_PORT to another port, or to 0 for a free one.\n`,
    );
    holder.close();
  });

  test('all configuration errors at once', async () => {
    const dev = start({ LENDER_API_PORT: 'x', DATABASE_URL: 'mysql://x' });
    expect(await dev.ended).toBe(1);
    expect(dev.output()).toMatch(/DATABASE_URL must[\s\S]*LENDER_API_PORT must/);
  });
});

describe('DATABASE_URL', () => {
  test('an empty database is used, again at the next start', async () => {
    const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
    const env = { DATABASE_URL: database.databaseUrl };
    const first = start(env);
    const file = await whenReady(first, home);
    expect(file.databaseUrl).toBe(database.databaseUrl);
    process.kill(-(first.child.pid ?? 0), 'SIGTERM');
    await first.ended;
    expect((await whenReady(start(env), home)).partner.apiKey).toBe(file.partner.apiKey);
    for (const { child, ended } of running) {
      child.kill('SIGTERM');
      await ended;
    }
    await database.drop();
  });
});

// By what they inherited, which only Linux tells of processes.
describe.skipIf(process.platform !== 'linux')('everything ends within 10 s', () => {
  const within = { timeout: 10_000, interval: 100 };

  test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('after %s to the process group', async (signal) => {
    const dev = start();
    await whenReady(dev, home);
    expect(processesOf(home).length).toBeGreaterThan(5);
    process.kill(-(dev.child.pid ?? 0), signal);
    await vi.waitFor(() => expect(processesOf(home)).toEqual([]), within);
  });

  test('after SIGKILL to its own process alone', async () => {
    const dev = start();
    await whenReady(dev, home);
    dev.child.kill('SIGKILL');
    await vi.waitFor(() => expect(processesOf(home)).toEqual([]), within);
  });

  test('after SIGKILL to its parent alone', async () => {
    const dev = start({}, ['sh', '-c', '"$@"; exit', 'sh']);
    await whenReady(dev, home);
    dev.child.kill('SIGKILL');
    await vi.waitFor(() => expect(processesOf(home)).toEqual([]), within);
  });

  test('after a signal while it starts', async () => {
    const dev = start();
    await vi.waitFor(() => expect(dev.output()).toContain('Starting the apps'), { timeout: 20_000, interval: 10 });
    process.kill(-(dev.child.pid ?? 0), 'SIGTERM');
    await vi.waitFor(() => expect(processesOf(home)).toEqual([]), within);
  });
});
