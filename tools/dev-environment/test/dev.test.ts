import { execFile } from 'node:child_process';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postGraphql } from '@deedwire/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import type { DevFile } from '../src/dev-file.ts';
import { createDevHome, type DevHome, type DevProcess } from './dev-process.ts';
import { runPrintedCommand, waitForWebhook } from './printed-commands.ts';

// A start takes some seconds of CPU time, so these tests share two of them, in this order. `test/full/dev.test.ts` has more.
let home: DevHome;
let first: DevProcess;
let file: DevFile;
beforeAll(async () => {
  home = await createDevHome();
  first = home.start();
  file = await home.whenReady(first);
  return () => home.remove();
});

describe('the first start', () => {
  test('writes dev.json with valid credentials and with exactly the fields that scripts rely on', async () => {
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
    for (const url of Object.values(file.admin)) expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  test('prints curl commands that work in a shell unchanged', async () => {
    await expect.poll(first.output).toContain('operator referral convert');
    const commands = first.output().match(/^curl (?:.*\\\n)+.*$/gm) ?? [];
    expect(commands).toHaveLength(4);
    for (const command of commands) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command]);
      expect(JSON.parse(stdout)).toEqual({ data: expect.any(Object), extensions: expect.any(Object) });
    }
  });

  test('ends its text with what to do next', async () => {
    await expect
      .poll(first.output)
      .toContain('What to do next:\n\n  docs/quickstart.md: receive and verify webhooks in your code\n');
  });

  // Only Linux reports which process is the worker.
  test.skipIf(process.platform !== 'linux')('restarts an app that ends, on the same port', async () => {
    const [pid] =
      home
        .processes()
        .find((line) => line.includes('apps/webhook-worker'))
        ?.split(' ') ?? [];
    process.kill(Number(pid), 'SIGKILL');
    await expect.poll(first.output).toContain('webhook-worker ended (SIGKILL)');
    await expect.poll(() => fetch(`${file.admin['webhook-worker']}/ready`)).toMatchObject({ status: 200 });
  });

  test('makes another start on the same home exit with 1 and the reason', async () => {
    const second = home.start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toBe(
      `Another \`pnpm dev\` is running in ${home.path}. Stop it, or set DEEDWIRE_HOME to another folder for this one.\n`,
    );
  });

  test('ends on SIGINT with 0, and removes dev.json', async () => {
    first.signalGroup('SIGINT');
    expect(await first.ended).toBe(0);
    await expect(access(join(home.path, 'dev.json'))).rejects.toThrow('ENOENT');
  });
});

test('a second start with --receiver keeps the data, and prints the webhook of each printed operator command', async () => {
  const second = home.start({}, { commandArguments: ['--receiver'] });
  const { partner, referrals } = await home.whenReady(second);
  expect(partner.apiKey).toBe(file.partner.apiKey);
  expect(referrals).toEqual(file.referrals);
  // One for the partner and one for the lender.
  expect(second.output().match(/^receiver +answered the handshake; its signature verifies$/gm)).toHaveLength(2);
  const created = await runPrintedCommand(home, second, /^npx .* operator referral create .*$/m);
  await waitForWebhook(second, 'referral.created', created);
  const converted = await runPrintedCommand(home, second, /^npx .* operator referral convert .*$/m);
  await waitForWebhook(second, 'referral.converted', converted);
  const added = await runPrintedCommand(home, second, /^npx .* operator member add .*$/m);
  await waitForWebhook(second, 'team_member.added', added);
});
