import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { startPostgres, terminateBackends, type PostgresServer } from '@deedwire/embedded-postgres';
import { createStore, type Store } from '@deedwire/store';
import { acknowledge, type ReceivedRequest, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { judge, startLoad, type Load, type LoadResult } from '../support/oracle.ts';

// One system with two workers, on a server of its own, goes through all of it. What each test accepts must arrive at its
// receiver, nothing else, authentic, and no more often than what was under way when something broke.
let server: PostgresServer;
let superuser: Store;
let t: TestSystem;
let workers: [RunningApp, RunningApp];
let receiver: Receiver;
let subscription: { id: string; secret: string };

/** So many requests to one callback URL at the same time: so many may be sent again when their worker is interrupted. */
const perCallbackUrl = 16;

beforeAll(async () => {
  server = await startPostgres();
  superuser = createStore({ databaseUrl: server.url, applicationName: 'faults', maxConnections: 1 });
  t = await startTestSystem({ server });
  workers = [t.system.apps['webhook-worker'], await t.system.add('webhook-worker')];
});

afterAll(async () => {
  await superuser.close();
  await t.close();
});

beforeEach(async () => {
  receiver = await startReceiver();
  receiver.onDelivery = (response, request) => void setTimeout(() => acknowledge(response, request), 20);
  subscription = await subscribe(receiver.url);
});

afterEach(async () => {
  await t.partner.request(operations.UnsubscribeDocument, { input: { id: subscription.id } });
  await receiver.close();
  await t.forgetHandshakes();
});

async function subscribe(callbackUrl: string): Promise<{ id: string; secret: string }> {
  const { createWebhookSubscription } = await t.partner.request(operations.SubscribeDocument, {
    input: { callbackUrl, eventTypes: [{ type: 'referral.created' }] },
  });
  const { webhookSubscription, webhookSecret } = createWebhookSubscription;
  if (webhookSubscription === null || webhookSecret === null)
    throw new Error(JSON.stringify(createWebhookSubscription));
  return { id: webhookSubscription.id, secret: webhookSecret };
}

/** Generous: a lease has to run out, and what failed once is tried again after 5 s. */
const arrivesWithinMs = 60_000;

/**
 * Waits until everything accepted is delivered, and says so, and nothing else.
 *
 * @returns how many deliveries were repeated
 */
async function untilAllDelivered(
  { accepted, refusals }: LoadResult,
  deliveries = (): readonly ReceivedRequest[] => receiver.deliveries,
): Promise<number> {
  expect(accepted.size).toBeGreaterThan(20);
  // What breaks beneath is never a client's fault, nor a bug.
  const ours = new Set(['503 SERVICE_UNAVAILABLE', '503 OPERATION_TIMEOUT', 'IDEMPOTENCY_IN_PROGRESS', 'no answer']);
  expect([...refusals].filter((refusal) => !ours.has(refusal))).toEqual([]);

  const verdict = () => judge(accepted, deliveries(), subscription.secret);
  await expect.poll(() => verdict().lost, { timeout: arrivesWithinMs }).toEqual([]);
  await expect.poll(pending, { timeout: arrivesWithinMs }).toEqual([]);
  const { repeated, ...rest } = verdict();
  expect(rest).toEqual({ lost: [], unexpected: [], unverified: 0, changed: 0 });
  return repeated;
}

async function pending(): Promise<object[]> {
  const variables = { subscriptionId: subscription.id, status: 'PENDING' as const };
  return (await t.partner.request(operations.DeliveriesDocument, variables)).webhookDeliveries.nodes;
}

/** The worker that sends at the moment. */
async function untilSending(): Promise<0 | 1> {
  const statement = { name: 'owner', text: 'select owner from webhook_lane where leased_until > now()' };
  for (;;) {
    const [lane] = await superuser.query<{ owner: string }>(statement, []);
    const index = workers.findIndex(({ pid }) => lane?.owner.endsWith(`/${pid}`));
    if (index === 0 || index === 1) return index;
    await sleep(5);
  }
}

async function replace(index: 0 | 1, env: Record<string, string> = {}): Promise<void> {
  workers[index] = await t.system.add('webhook-worker', env);
}

async function untilArriving(load: Load): Promise<Load> {
  await receiver.waitFor(receiver.deliveries.length + 20);
  return load;
}

async function alterLogins(what: string): Promise<void> {
  for (const role of ['partner_api', 'webhook_worker']) {
    await superuser.query({ name: `${role} ${what}`, text: `alter role ${role}_login ${what}` }, []);
  }
}

function clockOffBy(ms: number): Record<string, string> {
  const shim = new URL('../support/skewed-clock.ts', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${shim}`, CLOCK_SKEW_MS: String(ms) };
}

test('workers that are killed while they send, and APIs while they answer', { timeout: 180_000 }, async () => {
  const load = await untilArriving(startLoad(t.partner));
  for (let kills = 0; kills < 2; kills += 1) {
    const sending = await untilSending();
    workers[sending].kill('SIGKILL');
    t.system.apps['partner-api'].kill('SIGKILL');
    await t.system.apps['partner-api'].ended;
    await Promise.all([t.system.restart('partner-api'), replace(sending)]);
    const other = sending === 0 ? 1 : 0;
    workers[other].kill('SIGKILL');
    await replace(other);
  }
  expect(await untilAllDelivered(await load.stop())).toBeLessThanOrEqual(4 * perCallbackUrl);
});

test('a worker that stands still past its lease, and goes on', { timeout: 180_000 }, async () => {
  // Slowly until it is stopped: then it has much under way.
  receiver.onDelivery = (response, request) => void setTimeout(() => acknowledge(response, request), 500);
  const load = await untilArriving(startLoad(t.partner));
  const stopped = workers[await untilSending()];
  stopped.kill('SIGSTOP');
  receiver.onDelivery = acknowledge;
  const first = await load.stop();
  // The other has taken the lane over.
  await expect
    .poll(() => judge(first.accepted, receiver.deliveries, subscription.secret).lost, { timeout: arrivesWithinMs })
    .toEqual([]);

  const next = startLoad(t.partner);
  stopped.kill('SIGCONT');
  await receiver.waitFor(receiver.deliveries.length + 50);
  const second = await next.stop();
  const accepted = new Set([...first.accepted, ...second.accepted]);
  const refusals = new Set([...first.refusals, ...second.refusals]);
  expect(await untilAllDelivered({ accepted, refusals })).toBeLessThanOrEqual(perCallbackUrl);
});

test('SIGTERM under load ends a worker in order, and repeats nothing', { timeout: 60_000 }, async () => {
  const load = await untilArriving(startLoad(t.partner));
  for (let stops = 0; stops < 3; stops += 1) {
    const sending = await untilSending();
    const sinceMs = performance.now();
    workers[sending].kill('SIGTERM');
    expect(await workers[sending].ended).toEqual({ exitCode: 0, signal: null });
    expect(performance.now() - sinceMs).toBeLessThan(10_000);
    await replace(sending);
  }
  expect(await untilAllDelivered(await load.stop())).toBe(0);
});

test.each([
  ['a fast restart', () => server.restart('fast')],
  ['a crash', () => server.restart('immediate')],
  ['sessions that an administrator ends', () => terminateBackends(server.url)],
])('%s of the database', { timeout: 120_000 }, async (_, breakDatabase) => {
  const load = await untilArriving(startLoad(t.partner));
  for (let times = 0; times < 2; times += 1) {
    await breakDatabase();
    await receiver.waitFor(receiver.deliveries.length + 20);
  }
  expect(await untilAllDelivered(await load.stop())).toBeLessThanOrEqual(2 * 2 * perCallbackUrl);
  for (const { url } of [t.system.apps['partner-api'], ...workers])
    expect((await fetch(`${url}/health`)).ok).toBe(true);
});

test('a database that accepts no login for a while', { timeout: 120_000 }, async () => {
  const load = await untilArriving(startLoad(t.partner));
  for (const [refuse, accept] of [
    ['connection limit 0', 'connection limit -1'],
    ['nologin', 'login'],
  ] as const) {
    await alterLogins(refuse);
    await terminateBackends(server.url);
    await sleep(1_000);
    await alterLogins(accept);
    await receiver.waitFor(receiver.deliveries.length + 20);
  }
  const result = await load.stop();
  expect(result.refusals).toContain('503 SERVICE_UNAVAILABLE');
  expect(await untilAllDelivered(result)).toBeLessThanOrEqual(2 * 2 * perCallbackUrl);
});

test('workers whose clocks are ten minutes off, in both directions', { timeout: 60_000 }, async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all([replace(0, clockOffBy(600_000)), replace(1, clockOffBy(-600_000))]);
  let failures = 0;
  receiver.onDelivery = (response, request) => {
    failures += 1;
    if (failures > 2) acknowledge(response, request);
    // By this machine's clock, which is right: longer than the 5 s that the first retry waits anyway.
    else response.writeHead(503, { 'Retry-After': new Date(Date.now() + 8_000).toUTCString() }).end();
  };
  const load = await untilArriving(startLoad(t.partner));
  expect(await untilAllDelivered(await load.stop())).toBeLessThanOrEqual(2);
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all([replace(0), replace(1)]);
});

test('a callback URL that is changed while its deliveries are under way', { timeout: 60_000 }, async () => {
  const moved = await startReceiver();
  const load = await untilArriving(startLoad(t.partner));
  await t.partner.request(operations.ChangeSubscriptionDocument, {
    input: { id: subscription.id, callbackUrl: moved.url },
  });
  const arrivedBefore = receiver.deliveries.length;
  await moved.waitFor(20);
  const deliveries = () => [...receiver.deliveries, ...moved.deliveries];
  expect(await untilAllDelivered(await load.stop(), deliveries)).toBe(0);
  expect(receiver.deliveries.length - arrivedBefore).toBeLessThanOrEqual(perCallbackUrl);
  await moved.close();
});
