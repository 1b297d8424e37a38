import { execFile } from 'node:child_process';
import { access, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { createStore } from '@deedwire/store';
import { listen, postGraphql } from '@deedwire/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDevHome } from './dev-process.ts';

test('writes dev.json with valid credentials and with exactly the fields that scripts rely on', async () => {
  const home = await newDevHome();
  const file = await home.whenReady(home.start());
  const caller = {
    url: expect.stringContaining('http://127.0.0.1:'),
    clientId: expect.any(String),
    apiKey: expect.any(String),
    organizationId: expect.any(String),
  };
  const adminUrl = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(file).toEqual({
    lender: caller,
    partner: caller,
    otherLender: caller,
    otherPartner: caller,
    admin: { 'lender-api': adminUrl, 'partner-api': adminUrl, 'webhook-worker': adminUrl },
    databaseUrl: expect.stringContaining('postgres://'),
    referrals: expect.arrayContaining([expect.stringMatching(/^gid:\/\/service\/Referral\/\d+$/)]),
  });
  expect(file.referrals.length).toBeGreaterThanOrEqual(20);
  expect(file.otherLender.organizationId).not.toBe(file.lender.organizationId);
  expect(file.otherPartner.organizationId).toBe(file.otherLender.organizationId);
  expect((await stat(join(home.path, 'dev.json'))).mode & 0o777).toBe(0o600);

  for (const lender of [file.lender, file.otherLender]) {
    expect(await postGraphql(lender.url, lender, { query: '{ lender { name } }' })).toMatchObject({
      status: 200,
      body: { data: { lender: { name: expect.any(String) } } },
    });
  }
  for (const partner of [file.partner, file.otherPartner]) {
    expect(await postGraphql(partner.url, partner, { query: '{ partner { name } }' })).toMatchObject({
      status: 200,
      body: { data: { partner: { name: expect.any(String) } } },
    });
  }
  const [id] = file.referrals;
  expect(
    (await postGraphql(file.partner.url, file.partner, { query: `{ referral(id: "${id}") { id status } }` })).body,
  ).toEqual({
    data: { referral: { id, status: 'OPEN' } },
    extensions: expect.any(Object),
  });
  expect((await fetch(`${file.admin['webhook-worker']}/ready`)).status).toBe(200);
});

test('prints curl commands that work in a shell unchanged', async () => {
  const home = await newDevHome();
  const dev = home.start();
  await home.whenReady(dev);
  await expect.poll(dev.output).toContain('operator referral convert');
  const commands = dev.output().match(/^curl (?:.*\\\n)+.*$/gm) ?? [];
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toEqual({ data: expect.any(Object), extensions: expect.any(Object) });
  }
});

test('keeps data and credentials after a stop', async () => {
  const home = await newDevHome();
  const first = home.start();
  const before = await home.whenReady(first);
  first.signalGroup('SIGINT');
  expect(await first.ended).toBe(0);
  await expect(access(join(home.path, 'dev.json'))).rejects.toThrow('ENOENT');

  const after = await home.whenReady(home.start());
  expect(after.partner.apiKey).toBe(before.partner.apiKey);
  expect(after.referrals).toEqual(before.referrals);
});

// Only Linux reports which process is the worker.
test.skipIf(process.platform !== 'linux')('restarts an app that ends, on the same port', async () => {
  const home = await newDevHome();
  const dev = home.start();
  const { admin } = await home.whenReady(dev);
  const [pid] =
    home
      .processes()
      .find((line) => line.includes('apps/webhook-worker'))
      ?.split(' ') ?? [];
  process.kill(Number(pid), 'SIGKILL');
  await expect.poll(dev.output).toContain('webhook-worker ended (SIGKILL)');
  const status = async (): Promise<number> => (await fetch(`${admin['webhook-worker']}/ready`)).status;
  await expect.poll(status).toBe(200);
});

describe('explains why it cannot start', () => {
  test('another `pnpm dev` uses the home', async () => {
    const home = await newDevHome();
    await home.whenReady(home.start());
    const second = home.start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toBe(
      `Another \`pnpm dev\` is running in ${home.path}. Stop it, or set DEEDWIRE_HOME to another folder for this one.\n`,
    );
  });

  test('a port is in use, with the name of its variable', async () => {
    const holder = await listen(createServer());
    onTestFinished(() => holder.close());
    const home = await newDevHome();
    const dev = home.start({ PARTNER_API_PORT: String(holder.port) });
    expect(await dev.ended).toBe(1);
    expect(dev.output()).toBe(
      `PARTNER_API_PORT: port ${holder.port} is in use. Set PARTNER_API_PORT to another port, or to 0 to select a free one.\n`,
    );
  });

  test('the configuration has several errors', async () => {
    const home = await newDevHome();
    const dev = home.start({ LENDER_API_PORT: 'x', DATABASE_URL: 'mysql://x' });
    expect(await dev.ended).toBe(1);
    expect(dev.output()).toMatch(/DATABASE_URL must[\s\S]*LENDER_API_PORT must/);
  });
});

describe('DATABASE_URL', () => {
  test('reports that the server is unavailable', async () => {
    const home = await newDevHome();
    const dev = home.start({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(await dev.ended).toBe(1);
    expect(dev.output()).toMatch(/The database is not available\. \(connect ECONNREFUSED 127\.0\.0\.1:1\)\n$/);
  });

  test('uses an empty database, uses it again at the next start, and rejects the database of an earlier build', async () => {
    const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
    const env = { DATABASE_URL: database.databaseUrl };
    const home = await newDevHome();
    const first = home.start(env);
    const file = await home.whenReady(first);
    expect(file.databaseUrl).toBe(database.databaseUrl);
    first.signalGroup('SIGTERM');
    await first.ended;
    const second = home.start(env);
    expect((await home.whenReady(second)).partner.apiKey).toBe(file.partner.apiKey);
    second.signalGroup('SIGTERM');
    await second.ended;

    const store = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
    await store.query({ name: 'change', text: `update schema_migration set checksum = 'of an earlier build'` }, []);
    await store.close();
    const third = home.start(env);
    expect(await third.ended).toBe(1);
    expect(third.output()).toContain('Migration 0001-accounts-and-credentials was applied to the database, but');
    expect(third.output()).toContain('before the first public release');
    expect(third.output()).toMatch(/\nSet DATABASE_URL to an empty database\.\n$/);
    await database.drop();
  });
});
