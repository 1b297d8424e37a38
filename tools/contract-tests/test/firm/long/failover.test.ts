import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, missing } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PatroniCluster, startPatroniCluster } from '../../support/failover/patroni-cluster.ts';
import { isWithoutPatroni } from '../../support/failover/programs.ts';
import type { Load } from '../../support/faults/load.ts';
import { expectAllDelivered, windowMax } from '../../support/faults/verdict-of.ts';
import { type EventReader, type Reads, startEventReader, startReads } from '../../support/reads.ts';
import {
  expectAgreement,
  leaveOutMatterNumbers,
  openMatters,
  reconcileLog,
  startPullingReceiver,
} from '../support/earlier-state.ts';
import { type FaultSystem, startFaultSystem } from '../support/fault-system.ts';

// The apps connect to three PostgreSQL servers with Patroni through HAProxy. Under load, the primary and its Patroni are killed,
// again and again. Nothing that was accepted is lost, and no app is started again.

const failovers = Number(process.env['FAILOVERS'] ?? 2);
/** Within this time after a kill, referrals are accepted and delivered. `ttl` of Patroni, 20 s, is a part of it. */
const recoversWithinMs = 45_000;
// Guards against hanging only.
const deliveredWithinMs = 180_000;
/** A request that was accepted before the kill can have its response after it. */
const concurrency = 8;

/** What interfaces may answer while the database is unavailable. */
const unavailable = ['503', '503 SERVICE_UNAVAILABLE', '503 OPERATION_TIMEOUT'];

let cluster: PatroniCluster;
let system: FaultSystem;
let closing: (() => Promise<void>)[] = [];

async function start(synchronous: boolean, leaseMs: number): Promise<void> {
  cluster = await startPatroniCluster({ synchronous });
  closing = [() => cluster.stop()];
  const server = { url: cluster.url, stop: () => Promise.resolve() };
  // The times of production, because the outages are real.
  const env = { DATABASE_TIMEOUT_MS: '2500' };
  system = await startFaultSystem({
    apps: ['lender-api', 'partner-api', 'webhook-worker'],
    server,
    accounts: 4,
    leaseMs,
    env,
  });
  closing.unshift(() => system.close());
  system.workers.push(await system.addWorker());
  system.apis.push(await system.t.system.add('partner-api'));
}

afterEach(async () => {
  for (const close of closing) await close();
});

describe.skipIf(isWithoutPatroni)('with a synchronous standby', () => {
  beforeEach(() => start(true, 15_000));

  test('nothing is lost when the primary is killed again and again', async () => {
    const { t, received } = system;
    const load = system.startLoad();
    const reads: Reads = startReads(t.urls.lender, t.accounts.lender.credential, '{ lender { name } }', 2);
    const { reader, subscriptionId } = startReader();
    await received.waitForMore(100);
    const recoveries: Recovery[] = [];
    for (let kill = 1; kill <= failovers; kill += 1) {
      await cluster.untilHealthy();
      const before = load.accepted;
      const startMs = performance.now();
      const rejoin = await cluster.killLeader();
      const recovery = await recover(load, startMs);
      recoveries.push(recovery);
      await rejoin();
      process.stderr.write(
        `failover ${kill}: ${JSON.stringify({ ...recovery, accepted: before })} ${await cluster.describe()}\n`,
      );
      await received.waitForMore(50);
    }
    await cluster.untilHealthy();
    const written = await load.stop();
    const read = await reads.stop();
    expect([...read.failures].filter((failure) => !unavailable.includes(failure))).toEqual([]);
    expect(read.responses).toBeGreaterThan(failovers);
    // At each kill, a worker has sent deliveries whose results it cannot record.
    const furtherRepeats = failovers * windowMax * system.subscriptions.size;
    const { unobserved, ...result } = await expectAllDelivered(system, written, furtherRepeats);
    // Leases that expired in a failover allow no more.
    expect(result.repeats).toBeLessThanOrEqual(furtherRepeats);

    const last = received.deliveries
      .filter((delivery) => delivery.subscriptionId === subscriptionId)
      .reduce((highest, { sequence }) => Math.max(highest, sequence), 0);
    const { sequences } = await reader.stop(last);
    expect(sequences).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    for (const { adminUrl } of [...system.apis, ...system.workers, t.system.apps['lender-api']])
      await eventually(async () => expect((await fetch(`${adminUrl}/ready`)).status).toBe(200));

    const slowest = (of: (recovery: Recovery) => number): number => Math.max(...recoveries.map(of));
    const figures = {
      failovers,
      ...result,
      // Of workers whose lease expired while the database was unavailable.
      leasesLost: unobserved,
      furtherRepeats,
      reads: read.responses,
      acceptedAfterMs: median(recoveries.map(({ acceptedAfterMs }) => acceptedAfterMs)),
      slowestAcceptedAfterMs: slowest(({ acceptedAfterMs }) => acceptedAfterMs),
      deliveredAfterMs: median(recoveries.map(({ deliveredAfterMs }) => deliveredAfterMs)),
      slowestDeliveredAfterMs: slowest(({ deliveredAfterMs }) => deliveredAfterMs),
    };
    process.stderr.write(`failover: ${JSON.stringify(figures)}\n`);
    expect(figures.slowestAcceptedAfterMs).toBeLessThan(recoversWithinMs);
    expect(figures.slowestDeliveredAfterMs).toBeLessThan(recoversWithinMs);
  });
});

describe.skipIf(isWithoutPatroni)('with asynchronous standbys', () => {
  // The leases outlive the failover: the workers go on with what they know of the lost transactions.
  beforeEach(() => start(false, 60_000));

  test('receivers and operators notice what is lost, and the rest goes on', async () => {
    const { received, accepted } = system;
    const load = system.startLoad();
    await received.waitForMore(100);
    const given = await openMatters(system, 5);
    const kept = (await accepted.read()).length;
    await eventually(async () => expect(await cluster.isReplicated()).toBe(true));
    await cluster.suspendReplication();
    await received.waitForMore(400);
    given.push(...(await openMatters(system, 60)));
    const receiver = await startPullingReceiver(system);
    expect(await receiver.reconcile()).toBe('complete');

    const startMs = performance.now();
    const rejoin = await cluster.killLeader();
    const recovery = await recover(load, startMs);
    await leaveOutMatterNumbers(system, given);
    await rejoin();
    await received.waitForMore(200);
    await expect(receiver.reconcile()).rejects.toThrow(/BAD_USER_INPUT|SEQUENCE_GAP/);
    await receiver.reset();
    expect(await receiver.reconcile()).toBe('complete');
    await cluster.untilHealthy();
    await load.stop();
    const compared = await expectAgreement(system, kept);
    expect(compared.lostEvents).toBeGreaterThan(50);
    expect(compared.reusedSequences).toBeGreaterThan(50);
    const reconciled = await reconcileLog(system, receiver.subscriptionId);
    expect([reconciled.missing, reconciled.altered]).toEqual([[], []]);
    expect(reconciled.unexpected.length).toBeGreaterThan(10);
    const figures = { ...compared, unexpected: reconciled.unexpected.length, ...recovery };
    process.stderr.write(`asynchronous failover: ${JSON.stringify(figures)}\n`);
  });
});

/** Times after the kill. */
interface Recovery {
  /** Until a referral is accepted. */
  acceptedAfterMs: number;
  /** Until such a referral is delivered to both subscriptions of its account. */
  deliveredAfterMs: number;
}

/** Waits until the system works again. */
async function recover(load: Load, startMs: number): Promise<Recovery> {
  const before = load.accepted + concurrency;
  await until(() => load.accepted > before);
  const acceptedAfterMs = Math.round(performance.now() - startMs);
  const { recordId } = (await system.accepted.read()).at(-1) ?? missing();
  const arrived = (): number => {
    const requests = system.received.deliveries.filter((delivery) => delivery.recordId === recordId);
    return new Set(requests.map(({ subscriptionId }) => subscriptionId)).size;
  };
  await until(() => arrived() === 2);
  return { acceptedAfterMs, deliveredAfterMs: Math.round(performance.now() - startMs) };
}

async function until(isDone: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + deliveredWithinMs;
  while (!isDone()) {
    if (performance.now() > deadlineMs) throw new Error(`The system did not recover: ${await cluster.describe()}`);
    await sleep(10);
  }
}

/** Reads the events of a subscription with `webhookEvents`. */
function startReader(): { reader: EventReader; subscriptionId: string } {
  const { accountId } = system.accounts[0] ?? missing();
  const [subscriptionId] = [...system.subscriptions].find(([, owner]) => owner === accountId) ?? missing();
  const reader = startEventReader(system.t.urls.partner, system.credentialOf(accountId), subscriptionId);
  return { reader, subscriptionId };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
