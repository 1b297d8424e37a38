import { startPostgres, terminateBackends, type PostgresServer } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { respondAfterMs } from './support/faults/delivery-log.ts';
import { failpoints, finishTaken, runUntilFailpoint } from './support/faults/failpoints.ts';
import { startFaultSystem, type FaultSystem } from './support/faults/fault-system.ts';
import { killAtRandom } from './support/faults/random-kills.ts';
import { expectAllDelivered, windowMax } from './support/faults/verdict-of.ts';
import { suspend, untilShared } from './support/faults/workers.ts';
import { ChangeSubscriptionDocument } from './support/webhook-operations.ts';

// All tests use one system with two workers on a separate database server. After each test, every event that was accepted so
// far must have been delivered: see `expectAllDelivered`.
let server: PostgresServer;
let system: FaultSystem;

beforeAll(async () => {
  server = await startPostgres();
  system = await startFaultSystem({ server, accounts: 4, leaseMs: 2_000 });
  system.workers.push(await system.addWorker());
});

afterAll(() => system.close());

const timeout = 300_000;

test('delivers every event when workers and APIs are killed under load', { timeout }, async () => {
  const load = system.startLoad();
  // A worker, and an API. `long/kills.test.ts` has more.
  await killAtRandom(system, { kills: 2 });
  const { accepted } = await expectAllDelivered(system, await load.stop());
  expect(accepted).toBeGreaterThan(50);
});

test('delivers every event when the only worker is killed at each failpoint', { timeout }, async () => {
  const load = system.startLoad();
  for (const worker of system.workers.splice(0)) worker.kill('SIGTERM');
  for (const [index, place] of failpoints.entries()) {
    if (index === 3) await finishTaken(system);
    await runUntilFailpoint(system, place, 5);
  }
  system.workers.push(...(await Promise.all([system.addWorker(), system.addWorker()])));
  await system.received.waitForMore(50);
  const { allowedRepeats } = await expectAllDelivered(system, await load.stop());
  expect(allowedRepeats).toBeGreaterThan(0);
});

test('repeats no delivery when a worker under load exits on SIGTERM', { timeout }, async () => {
  const load = system.startLoad();
  await system.received.waitForMore(50);
  const leaving = system.workers.shift();
  leaving?.kill('SIGTERM');
  expect(await leaving?.ended).toEqual({ exitCode: 0, signal: null });
  system.workers.push(await system.addWorker());
  await expectAllDelivered(system, await load.stop());
});

test('shares the work with a third worker, which loses its share when it is suspended', { timeout }, async () => {
  const { received, workers, interruptions } = system;
  const third = await system.addWorker();
  workers.push(third);
  const others = workers.filter((worker) => worker !== third);
  const halves = others.map((worker) => [worker, [32]] as const);
  const thirds = workers.map((worker) => [worker, [21, 22]] as const);
  await untilShared(system, thirds);

  // Responds slowly until the worker is suspended, so that many deliveries are in flight then.
  received.respond = respondAfterMs(500);
  const load = system.startLoad();
  await received.waitForMore(50);
  await interruptions.during(third, () => suspend(third));
  received.respond = respondAfterMs(20);
  await untilShared(system, halves);
  await received.waitForMore(50);

  // The database has no trace of what the worker writes under its old id. It gets shards again under a new one.
  third.kill('SIGCONT');
  await untilShared(system, thirds);
  await received.waitForMore(50);
  workers.splice(workers.indexOf(third), 1);
  third.kill('SIGTERM');
  expect(await third.ended).toEqual({ exitCode: 0, signal: null });
  await untilShared(system, halves);
  // When it continues, it can complete requests that it had started. It starts none before it learns that it lost its shards.
  await expectAllDelivered(system, await load.stop(), windowMax * system.subscriptions.size);
});

test('delivers every event when a callback URL changes during deliveries', { timeout }, async () => {
  const { received, clientOf, subscriptions } = system;
  const [[id, accountId] = ['', '']] = subscriptions;
  const load = system.startLoad();
  await received.waitForMore(50);
  const input = { id, callbackUrl: `${received.url}/moved` };
  await clientOf(accountId).request(ChangeSubscriptionDocument, { input });
  await eventually(() => expect(received.deliveries.map(({ path }) => path)).toContain('/hook/moved'), timeout);
  await expectAllDelivered(system, await load.stop());
});

test('delivers every event despite a crash of the database', { timeout }, async () => {
  const load = system.startLoad();
  await system.received.waitForMore(20);
  await server.restart('immediate');
  await system.received.waitForMore(50);
  // Unsettled deliveries cannot be read from a database that is unavailable.
  await expectAllDelivered(system, await load.stop(), windowMax * system.subscriptions.size);
  for (const { adminUrl } of [...system.apis, ...system.workers])
    expect((await fetch(`${adminUrl}/health`)).ok).toBe(true);
});

test(
  'accepts nothing while the database has reached its connection limit, and delivers every event',
  { timeout },
  async () => {
    const load = system.startLoad();
    await system.received.waitForMore(20);
    await limitConnections(0);
    try {
      await terminateBackends(server.url);
      await eventually(() => expect(load.failures).toContain('503 SERVICE_UNAVAILABLE'), timeout);
    } finally {
      await limitConnections(-1);
    }
    await system.received.waitForMore(50);
    await expectAllDelivered(system, await load.stop(), windowMax * system.subscriptions.size);
  },
);

async function limitConnections(limit: number): Promise<void> {
  for (const role of ['customer_api', 'webhook_worker'])
    await system.observer.run(`alter role ${role}_login connection limit ${limit}`);
}

// The last test: nothing replaces the workers.
test('delivers every event when worker clocks are ten minutes fast and slow', { timeout }, async () => {
  await Promise.all(system.workers.map((worker) => worker.stop()));
  const skewed = await Promise.all([system.addWorker(clockOffBy(600_000)), system.addWorker(clockOffBy(-600_000))]);
  system.workers.splice(0, 2, ...skewed);
  let responses = 0;
  const respond = respondAfterMs(20);
  system.received.respond = (response, request) => {
    responses += 1;
    if (responses > 2) respond(response, request);
    // The clock of the test is correct. 8 s is longer than the delay of the first retry, 5 s.
    else response.writeHead(503, { 'Retry-After': new Date(Date.now() + 8_000).toUTCString() }).end();
  };
  const load = system.startLoad();
  await system.received.waitForMore(50);
  const { retries } = await expectAllDelivered(system, await load.stop());
  expect(retries).toBeGreaterThanOrEqual(2);
});

function clockOffBy(ms: number): Record<string, string> {
  const shim = new URL('./support/skewed-clock.ts', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${shim}`, CLOCK_SKEW_MS: String(ms) };
}
