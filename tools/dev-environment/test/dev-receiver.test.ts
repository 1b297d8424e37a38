import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postGraphql } from '@deedwire/testing';
import { expect, test } from 'vitest';
import type { DevCaller } from '../src/dev-file.ts';
import { workspaceRoot } from '../src/workspace.ts';
import { newDevHome, type DevHome, type DevProcess } from './dev-process.ts';

const withReceiver = { commandArguments: ['--receiver'] };

/** Runs the operator command that `pnpm dev` printed. Returns the id of its referral, or of its team member. */
async function runPrintedCommand(home: DevHome, dev: DevProcess, pattern: RegExp): Promise<string> {
  await expect.poll(dev.output).toMatch(pattern);
  const [command = ''] = pattern.exec(dev.output()) ?? [];
  const main = join(workspaceRoot, 'apps/operator-cli/src/main.ts');
  const operator = command.replace(/^npx -y pnpm@[\d.]+ operator/, `"$NODE" --conditions=deedwire-source ${main}`);
  const { stdout } = await promisify(execFile)('sh', ['-c', operator], {
    env: { ...process.env, NODE: process.execPath, DEEDWIRE_HOME: home.path },
  });
  const [id = 'none'] = /gid:\/\/service\/(?:Referral|TeamMember)\/\d+/.exec(stdout) ?? [];
  return id;
}

interface Subscription {
  id: string;
  callbackUrl: string;
  status: string;
  eventTypes: { type: string; version: string }[];
}

async function send<Data>(caller: DevCaller, query: string, variables: object = {}): Promise<Data> {
  const { body } = await postGraphql<Data>(caller.url, caller, { query, variables });
  if (body.data === undefined || body.data === null) throw new Error(JSON.stringify(body.errors));
  return body.data;
}

async function readSubscriptions(caller: DevCaller): Promise<Subscription[]> {
  const query = '{ webhookSubscriptions(first: 20) { nodes { id callbackUrl status eventTypes { type version } } } }';
  const { webhookSubscriptions } = await send<{ webhookSubscriptions: { nodes: Subscription[] } }>(caller, query);
  return webhookSubscriptions.nodes;
}

async function waitForWebhook(dev: DevProcess, type: string, id: string): Promise<void> {
  const webhook = new RegExp(
    `^receiver +${type} 2026-11-01, attempt 1\\n {16}\\{\\n[\\s\\S]*"(?:referralId|id)": "${id}"`,
    'm',
  );
  await expect.poll(dev.output).toMatch(webhook);
}

/** The types that each interface offers, at the versions that the receiver pins. */
const pins = {
  partner: ['referral.converted', 'referral.created', 'referral.declined', 'webhook.test'],
  lender: ['lender.updated', 'team_member.added', 'team_member.removed', 'team_member.updated', 'webhook.test'],
};

function pinned(types: readonly string[]): Subscription['eventTypes'] {
  return types.map((type) => ({ type, version: '2026-11-01' }));
}

/** Responds 410 to every request to the port, which pauses the subscription. Returns a function that stops it. */
async function respondGone(port: string): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(410).end();
  });
  await once(server.listen(Number(port), '127.0.0.1'), 'listening');
  return async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  };
}

// Starts a whole system two or three times.
const timeout = 180_000;
test('prints the webhook of each printed operator command, and reuses its subscriptions', { timeout }, async () => {
  const home = await newDevHome();
  const first = home.start({}, withReceiver);
  const { partner, lender } = await home.whenReady(first);
  expect(first.output().match(/^receiver +answered the handshake; its signature verifies$/gm)).toHaveLength(2);
  const [before, ...others] = await readSubscriptions(partner);
  expect(others).toEqual([]);
  expect(before).toMatchObject({ status: 'ACTIVE', eventTypes: pinned(pins.partner) });
  expect(await readSubscriptions(lender)).toMatchObject([{ status: 'ACTIVE', eventTypes: pinned(pins.lender) }]);
  const created = await runPrintedCommand(home, first, /^npx .* operator referral create .*$/m);
  await waitForWebhook(first, 'referral.created', created);
  const converted = await runPrintedCommand(home, first, /^npx .* operator referral convert .*$/m);
  await waitForWebhook(first, 'referral.converted', converted);
  const added = await runPrintedCommand(home, first, /^npx .* operator member add .*$/m);
  await waitForWebhook(first, 'team_member.added', added);
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

  // Another port: the subscriptions get a new callback URL.
  const third = home.start({}, withReceiver);
  const moved = await readSubscriptions((await home.whenReady(third)).partner);
  expect(moved).toEqual([{ ...before, callbackUrl: expect.not.stringContaining(`:${port}/`) }]);
  await waitForWebhook(third, 'referral.created', await runPrintedCommand(home, third, /^npx .* create .*$/m));
});

test('resumes a paused subscription and adds the event types that it lacks', { timeout }, async () => {
  const home = await newDevHome();
  const first = home.start({}, withReceiver);
  const [before] = await readSubscriptions((await home.whenReady(first)).partner);
  first.signalGroup('SIGINT');
  expect(await first.ended).toBe(0);

  const withoutReceiver = home.start();
  const { partner } = await home.whenReady(withoutReceiver);
  const port = new URL(before?.callbackUrl ?? '').port;
  const stopResponding = await respondGone(port);
  await runPrintedCommand(home, withoutReceiver, /^npx .* create .*$/m);
  await expect.poll(() => readSubscriptions(partner), { interval: 200 }).toMatchObject([{ status: 'PAUSED' }]);
  const update = `mutation ($input: UpdateWebhookSubscriptionInput!) {
    updateWebhookSubscription(input: $input) { userErrors { message } }
  }`;
  const input = { id: before?.id, eventTypes: pinned(['referral.declined']) };
  expect(await send(partner, update, { input })).toEqual({ updateWebhookSubscription: { userErrors: [] } });
  withoutReceiver.signalGroup('SIGINT');
  expect(await withoutReceiver.ended).toBe(0);
  await stopResponding();

  const last = home.start({ RECEIVER_PORT: port }, withReceiver);
  const after = await readSubscriptions((await home.whenReady(last)).partner);
  expect(after).toEqual([before]);
  await waitForWebhook(last, 'referral.created', await runPrintedCommand(home, last, /^npx .* create .*$/m));
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
  const line = /sample receiver +(http\S+)\n/;
  await expect.poll(dev.output).toMatch(line);
  const [, url = ''] = line.exec(dev.output()) ?? [];
  expect((await fetch(url, { method: 'POST', body: 'not JSON' })).status).toBe(401);
  await expect.poll(dev.output).toMatch(/^receiver +rejected a request: 401 SIGNATURE_MISSING$/m);
});

test('prints the help', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--help'] });
  expect(await dev.ended).toBe(0);
  expect(dev.output()).toMatch(/^Usage: pnpm dev \[options\]\n[\s\S]*--receiver/);
});

test('exits with 2 and one line for an unknown option', async () => {
  const dev = (await newDevHome()).start({}, { commandArguments: ['--reciever'] });
  expect(await dev.ended).toBe(2);
  expect(dev.output()).toBe("Unknown option '--reciever'. `pnpm dev --help` lists the options.\n");
});
