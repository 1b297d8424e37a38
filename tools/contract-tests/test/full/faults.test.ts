import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { startPostgres, terminateBackends, type PostgresServer } from '@deedwire/embedded-postgres';
import { createStore, type Store } from '@deedwire/store';
import { acknowledge, type ReceivedRequest, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { compareDeliveries, startLoad, type Load, type LoadResult } from '../support/oracle.ts';

// All tests use one system with two workers on a separate database server. In each test, every accepted referral must be
// delivered with a valid signature, no other event may arrive, and only deliveries in flight at a fault may be repeated.
let server: PostgresServer;
let superuser: Store;
let t: TestSystem;
let workers: [RunningApp, RunningApp];
let receiver: Receiver;
let subscription: { id: string; secret: string };

/** Maximum of concurrent requests to a callback URL, and so of repeated deliveries when a worker is interrupted. */
const concurrencyPerUrl = 16;

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

/** Long enough for a lease to expire and for the first retry, which follows after 5 s. */
const deliveredWithinMs = 60_000;

/**
 * Waits until all accepted referrals are delivered and no delivery is pending.
 *
 * @returns the number of repeated deliveries
 */
async function untilAllDelivered(
  { accepted, failures }: LoadResult,
  deliveries = (): readonly ReceivedRequest[] => receiver.deliveries,
): Promise<number> {
  expect(accepted.size).toBeGreaterThan(20);
  // A fault may cause only these errors: not a client error, and not INTERNAL_SERVER_ERROR.
  const expected = new Set([
    '503 SERVICE_UNAVAILABLE',
    '503 OPERATION_TIMEOUT',
    'IDEMPOTENCY_IN_PROGRESS',
    'no response',
  ]);
  expect([...failures].filter((failure) => !expected.has(failure))).toEqual([]);

  const report = () => compareDeliveries(accepted, deliveries(), subscription.secret);
  await expect.poll(() => report().lost, { timeout: deliveredWithinMs }).toEqual([]);
  await expect.poll(pending, { timeout: deliveredWithinMs }).toEqual([]);
  const { repeated, ...rest } = report();
  expect(rest).toEqual({ lost: [], unexpected: [], unverified: 0, changed: 0 });
  return repeated;
}

async function pending(): Promise<object[]> {
  const variables = { subscriptionId: subscription.id, status: 'PENDING' as const };
  return (await t.partner.request(operations.DeliveriesDocument, variables)).webhookDeliveries.nodes;
}

/** Waits until a running worker owns the shard of the partner's account, and returns its index. */
async function untilSending(): Promise<0 | 1> {
  const statement = {
    name: 'owner',
    text: `
      select w.name
      from webhook_shard s
      join webhook_worker w on w.id = s.worker_id and w.alive
      where s.shard = $1::bigint & 63`,
  };
  for (;;) {
    const [owner] = await superuser.query<{ name: string }>(statement, [t.accounts.partner.accountId]);
    const index = workers.findIndex(({ pid }) => owner?.name.endsWith(`/${pid}`));
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

async function alterLogins(clause: string): Promise<void> {
  for (const role of ['partner_api', 'webhook_worker']) {
    await superuser.query({ name: `${role} ${clause}`, text: `alter role ${role}_login ${clause}` }, []);
  }
}

function clockOffBy(ms: number): Record<string, string> {
  const shim = new URL('../support/skewed-clock.ts', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${shim}`, CLOCK_SKEW_MS: String(ms) };
}

test('delivers every event when workers and the API are killed under load', { timeout: 180_000 }, async () => {
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
  expect(await untilAllDelivered(await load.stop())).toBeLessThanOrEqual(4 * concurrencyPerUrl);
});

test('delivers every event when a worker is suspended beyond its lease', { timeout: 180_000 }, async () => {
  // Responds slowly until the worker is suspended, so that many of its deliveries are in flight then.
  receiver.onDelivery = (response, request) => void setTimeout(() => acknowledge(response, request), 500);
  const load = await untilArriving(startLoad(t.partner));
  const stopped = workers[await untilSending()];
  stopped.kill('SIGSTOP');
  receiver.onDelivery = acknowledge;
  const first = await load.stop();
  // The other worker has taken over the shard.
  await expect
    .poll(() => compareDeliveries(first.accepted, receiver.deliveries, subscription.secret).lost, {
      timeout: deliveredWithinMs,
    })
    .toEqual([]);

  const next = startLoad(t.partner);
  stopped.kill('SIGCONT');
  await receiver.waitFor(receiver.deliveries.length + 50);
  const second = await next.stop();
  const accepted = new Set([...first.accepted, ...second.accepted]);
  const failures = new Set([...first.failures, ...second.failures]);
  expect(await untilAllDelivered({ accepted, failures })).toBeLessThanOrEqual(concurrencyPerUrl);
});

test('repeats no delivery when a worker under load exits on SIGTERM', { timeout: 60_000 }, async () => {
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
  ['the termination of all sessions', () => terminateBackends(server.url)],
])('delivers every event despite %s of the database', { timeout: 120_000 }, async (_, breakDatabase) => {
  const load = await untilArriving(startLoad(t.partner));
  for (let times = 0; times < 2; times += 1) {
    await breakDatabase();
    await receiver.waitFor(receiver.deliveries.length + 20);
  }
  expect(await untilAllDelivered(await load.stop())).toBeLessThanOrEqual(2 * 2 * concurrencyPerUrl);
  for (const { adminUrl } of [t.system.apps['partner-api'], ...workers])
    expect((await fetch(`${adminUrl}/health`)).ok).toBe(true);
});

test('delivers every event when the database rejects logins for a second', { timeout: 120_000 }, async () => {
  const load = await untilArriving(startLoad(t.partner));
  for (const [reject, accept] of [
    ['connection limit 0', 'connection limit -1'],
    ['nologin', 'login'],
  ] as const) {
    await alterLogins(reject);
    await terminateBackends(server.url);
    await sleep(1_000);
    await alterLogins(accept);
    await receiver.waitFor(receiver.deliveries.length + 20);
  }
  const result = await load.stop();
  expect(result.failures).toContain('503 SERVICE_UNAVAILABLE');
  expect(await untilAllDelivered(result)).toBeLessThanOrEqual(2 * 2 * concurrencyPerUrl);
});

test('delivers every event when worker clocks are ten minutes fast and slow', { timeout: 60_000 }, async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all([replace(0, clockOffBy(600_000)), replace(1, clockOffBy(-600_000))]);
  let failures = 0;
  receiver.onDelivery = (response, request) => {
    failures += 1;
    if (failures > 2) acknowledge(response, request);
    // The clock of the test is correct. 8 s is longer than the delay of the first retry, 5 s.
    else response.writeHead(503, { 'Retry-After': new Date(Date.now() + 8_000).toUTCString() }).end();
  };
  const load = await untilArriving(startLoad(t.partner));
  expect(await untilAllDelivered(await load.stop())).toBeLessThanOrEqual(2);
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all([replace(0), replace(1)]);
});

test('delivers every event when the callback URL changes during deliveries', { timeout: 60_000 }, async () => {
  const moved = await startReceiver();
  const load = await untilArriving(startLoad(t.partner));
  await t.partner.request(operations.ChangeSubscriptionDocument, {
    input: { id: subscription.id, callbackUrl: moved.url },
  });
  const arrivedBefore = receiver.deliveries.length;
  await moved.waitFor(20);
  const deliveries = () => [...receiver.deliveries, ...moved.deliveries];
  expect(await untilAllDelivered(await load.stop(), deliveries)).toBe(0);
  expect(receiver.deliveries.length - arrivedBefore).toBeLessThanOrEqual(concurrencyPerUrl);
  await moved.close();
});
