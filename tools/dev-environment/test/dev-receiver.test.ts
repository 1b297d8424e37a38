import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postGraphql } from '@deedwire/testing';
import { expect, test, vi } from 'vitest';
import type { DevCaller } from '../src/dev-file.ts';
import { workspaceRoot } from '../src/workspace.ts';
import { newDevHome, type DevHome, type DevProcess } from './dev-process.ts';

const withReceiver = { commandArguments: ['--receiver'] };

/** Runs the operator command that `pnpm dev` printed. Returns the id of its referral. */
async function runPrintedCommand(home: DevHome, dev: DevProcess, pattern: RegExp): Promise<string> {
  const command = await vi.waitFor(() => {
    const [found] = pattern.exec(dev.output()) ?? [];
    if (found === undefined) throw new Error(`The output has no command ${String(pattern)}:\n${dev.output()}`);
    return found;
  });
  const main = join(workspaceRoot, 'apps/operator-cli/src/main.ts');
  const operator = command.replace(/^npx -y pnpm@[\d.]+ operator/, `"$NODE" --conditions=deedwire-source ${main}`);
  const { stdout } = await promisify(execFile)('sh', ['-c', operator], {
    // oxlint-disable-next-line node/no-process-env -- the command inherits it
    env: { ...process.env, NODE: process.execPath, DEEDWIRE_HOME: home.path },
  });
  const [referralId = ''] = /gid:\/\/service\/Referral\/\d+/.exec(stdout) ?? [];
  return referralId;
}

interface Subscription {
  id: string;
  callbackUrl: string;
  status: string;
}

async function readSubscriptions(partner: DevCaller): Promise<Subscription[]> {
  const query = '{ webhookSubscriptions(first: 20) { nodes { id callbackUrl status } } }';
  const { body } = await postGraphql<{ webhookSubscriptions: { nodes: Subscription[] } }>(partner.url, partner, {
    query,
  });
  return body.data?.webhookSubscriptions.nodes ?? [];
}

async function waitForWebhook(dev: DevProcess, type: string, referralId: string): Promise<void> {
  const webhook = new RegExp(
    `^receiver +${type} 2026-11-01, attempt 1; its signature verifies\\n {16}\\{\\n[\\s\\S]*"referralId": "${referralId}"`,
    'm',
  );
  await vi.waitFor(() => expect(dev.output()).toMatch(webhook), { timeout: 60_000 });
}

// Starts a whole system three times.
const timeout = 180_000;
test('prints the webhook of each printed operator command, and reuses its subscription', { timeout }, async () => {
  const home = await newDevHome();
  const first = home.start({}, withReceiver);
  const { partner } = await home.whenReady(first);
  expect(first.output()).toMatch(/^receiver +answered the handshake; its signature verifies$/m);
  const [before, ...others] = await readSubscriptions(partner);
  expect(others).toEqual([]);
  expect(before?.status).toBe('ACTIVE');
  const created = await runPrintedCommand(home, first, /^npx .* operator referral create .*$/m);
  await waitForWebhook(first, 'referral.created', created);
  const converted = await runPrintedCommand(home, first, /^npx .* operator referral convert .*$/m);
  await waitForWebhook(first, 'referral.converted', converted);
  first.signalGroup('SIGINT');
  expect(await first.ended).toBe(0);

  // The same port, as with the default: the callback URL stays valid without another handshake.
  const port = new URL(before?.callbackUrl ?? '').port;
  const second = home.start({ RECEIVER_PORT: port }, withReceiver);
  const again = await home.whenReady(second);
  expect(await readSubscriptions(again.partner)).toEqual([before]);
  await waitForWebhook(second, 'referral.created', await runPrintedCommand(home, second, /^npx .* create .*$/m));
  expect(second.output()).not.toContain('handshake');
  second.signalGroup('SIGINT');
  expect(await second.ended).toBe(0);

  // Another port: the subscription gets a new callback URL.
  const third = home.start({}, withReceiver);
  const moved = await readSubscriptions((await home.whenReady(third)).partner);
  expect(moved).toEqual([{ ...before, callbackUrl: expect.not.stringContaining(`:${port}/`) }]);
  await waitForWebhook(third, 'referral.created', await runPrintedCommand(home, third, /^npx .* create .*$/m));
});

test('exits with 1 when the callback URL is rejected', async () => {
  const home = await newDevHome();
  const dev = home.start({ WEBHOOK_CALLBACK_POLICY: 'public' }, withReceiver);
  expect(await dev.ended).toBe(1);
  expect(dev.output()).toMatch(/^The sample receiver cannot be subscribed: .+\n$/m);
});

test('prints a rejected request', async () => {
  const home = await newDevHome();
  const dev = home.start({}, withReceiver);
  await home.whenReady(dev);
  const url = await vi.waitFor(() => {
    const [, found = ''] = /sample receiver +(http\S+)/.exec(dev.output()) ?? [];
    expect(found).not.toBe('');
    return found;
  });
  expect((await fetch(url, { method: 'POST', body: 'not JSON' })).status).toBe(401);
  await vi.waitFor(() => expect(dev.output()).toMatch(/^receiver +rejected a request: /m));
});

test('prints the help', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--help'] });
  expect(await dev.ended).toBe(0);
  expect(dev.output()).toMatch(/^Usage: pnpm dev \[options\]\n[\s\S]*--receiver/);
});

test('exits with 2 and prints the help for an unknown option', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--reciever'] });
  expect(await dev.ended).toBe(2);
  expect(dev.output()).toMatch(/^Unknown option '--reciever'\n\nUsage: pnpm dev \[options\]\n/);
});
