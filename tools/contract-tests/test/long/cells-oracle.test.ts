import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callOperatorWith } from '@deedwire/dev-environment/harness';
import { eventually, findProgram, missing, seededRandom } from '@deedwire/testing';
import { afterEach, expect, test } from 'vitest';
import { differences, readAccountRows } from '../support/cells/account-rows.ts';
import type { CellServer } from '../support/cells/cell-servers.ts';
import {
  addOrganization,
  expectContinued,
  type Organization,
  type Replay,
  replayLast,
  startTraffic,
  type Traffic,
} from '../support/cells/cell-traffic.ts';
import {
  disturbSteps,
  type DisturbedSteps,
  operatorEnv,
  processes,
  steps,
  type Step,
  victims,
} from '../support/cells/disturbed-steps.ts';
import { type OracleSystem, type Side, startOracleSystem } from '../support/cells/oracle-system.ts';
import { isWithoutPostgres } from '../support/failover/programs.ts';
import { attemptKey, judge } from '../support/faults/judge.ts';
import { windowMax } from '../support/faults/verdict-of.ts';

// A chain of splits under load: one side of each split is that of the next one. At each step of each split, a process is killed, and
// at one step another one is suspended. 20 splits kill each process at each step. The length of the run:
// `SPLITS=2 pnpm test:long long/cells-oracle`.
const splits = Number(process.env['SPLITS'] ?? 20);
const random = seededRandom(Number(process.env['SEED'] ?? 1));
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] ?? missing();

const isWithoutHaproxy = process.env['CI'] !== 'true' && findProgram('haproxy') === undefined;
const organizationsOfCell = 4;
const goesOnWithinMs = 60_000;

let system: OracleSystem;
let folder: string;
/** Those that were created, and those of the cell that splits. */
const everyOrganization: Organization[] = [];
let organizations: Organization[] = [];
const traffic = new Map<Organization, Traffic>();

const kills = new Map<string, number>();
/** What was killed or suspended, and how many requests receivers had then. */
const interruptions: { what: string; from: number }[] = [];
const refusals = new Map<string, number>();
const failures = new Set<string>();
const frozenMs: number[] = [];
const stepMs = new Map<Step, number[]>();
let worstRepeats = 0;

const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
const interrupt = (what: string): void => void interruptions.push({ what, from: system.received.deliveries.length });
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

afterEach(async () => {
  // What was not accepted before the system ends fails.
  for (const each of traffic.values()) each.stop().catch(() => {});
  await system.close();
  await rm(folder, { recursive: true });
});

test.skipIf(isWithoutPostgres || isWithoutHaproxy)(
  `${splits} splits under load and kills lose, double and misdirect nothing`,
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'cells-oracle-'));
    system = await startOracleSystem(splits + 1);
    let current = system.first;
    for (let number = 0; number < splits; number += 1) current = await split(current, number);
    const figures = {
      splits,
      accepted: everyOrganization.flatMap(({ accepted }) => accepted).length,
      requests: system.received.deliveries.length,
      worstRepeats,
      frozenMs: { p50: median(frozenMs), worst: Math.max(...frozenMs) },
      stepMs: Object.fromEntries(Array.from(stepMs, ([step, times]) => [step, median(times)])),
      kills: Object.fromEntries(kills),
      failures: [...failures],
      refusals: Object.fromEntries(refusals),
    };
    process.stderr.write(`cells: ${JSON.stringify(figures, null, 2)}\n`);
    const pairs = steps.flatMap((step) => victims.map((victim) => `${step} ${victim}`));
    expect(splits < 20 ? [] : pairs.filter((pair) => !kills.has(pair))).toEqual([]);
  },
);

/** Splits a cell. Returns the side that goes on. */
async function split(old: Side, number: number): Promise<Side> {
  const { proxy, received } = system;
  const beganMs = performance.now();
  await addOrganizations(old);
  const next = await system.addSide(number + 1, old);
  const leaving = organizations.filter((_, index) => index % 2 === number % 2);
  const staying = organizations.filter((each) => !leaving.includes(each));
  const disturbed = disturbSteps({
    system,
    old,
    next,
    list: leaving.map(({ id }) => id).join('\n'),
    random,
    onKill: (step, victim) => {
      count(kills, `${step} ${victim}`);
      interrupt(`${step}: ${victim} killed`);
    },
    onRefusal: (message) => count(refusals, message.replaceAll(/\d+|(?:cell|twin)-\S+/g, '…').slice(0, 90)),
  });
  const args: Record<Step, string[]> = {
    prepare: ['prepare', '--to', String(next.cell), '--leave', '-', '--standby', old.twin?.name ?? '', '--yes'],
    freeze: ['freeze', '--yes'],
    wait: ['wait'],
    promote: ['promote', '--yes'],
    activate: ['activate', '--yes', '--map', proxy.map],
  };
  await received.waitForMore(40);
  const exported = join(folder, `audit-${number}.jsonl`);
  await exportAudit(old.server, exported);
  if (number % 3 === 1) await abort(old, leaving, disturbed, args);

  const from = received.deliveries.length;
  const deadBefore = await readDeadWorkers(old);
  const replays = new Map<Organization, Replay>();
  for (const each of organizations)
    if (lastSequence(each) > 5) replays.set(each, await replayLast(proxy.url, each, lastSequence(each)));
  const acceptedBefore = leaving.map(({ accepted }) => Math.max(0, accepted.length - 1));
  let printed = '';
  for (const [index, step] of steps.entries()) {
    if (index === (number * 3 + 1) % steps.length) {
      await disturbed.untilRecovered();
      const suspended = processes[number % processes.length] ?? missing();
      interrupt(`${step}: ${suspended} suspended`);
      await disturbed.suspend(suspended);
    }
    const victim = victims[(number + index) % victims.length] ?? missing();
    // A worker that was killed or suspended is not waited for longer than it can send.
    const isSlow = step === 'freeze' && victim !== 'worker' && number % processes.length > 0;
    if (isSlow) {
      system.answerAfterMs = 3_000;
      await received.waitForMore(10);
    }
    const startMs = performance.now();
    printed = await disturbed.take(step, args[step], victim);
    stepMs.set(step, [...(stepMs.get(step) ?? []), Math.round(performance.now() - startMs)]);
    if (step === 'freeze') letSend(leaving, null);
    const finished = isSlow ? subscriptionsOf(leaving).map(([id]) => id) : [];
    expect(system.inFlight(finished)).toEqual([]);
    system.answerAfterMs = 100;
    system.expectDirected();
  }
  await disturbed.untilRecovered();
  await proxy.route(printed.split('\n').filter((line) => /^(?:add|set) map /.test(line)));
  letSend(leaving, next.cell);
  await system.startApps(next);
  const foreign = [
    { side: old, owned: staying, rest: leaving, rows: await readAccountRows(old.server.url, idsOf(leaving)) },
    { side: next, owned: leaving, rest: staying, rows: await readAccountRows(next.server.url, idsOf(staying)) },
  ];

  // All go on.
  for (const { accepted } of organizations) {
    const before = accepted.length;
    await eventually(() => {
      expect(accepted.length, 'changes of each organization are accepted').toBeGreaterThan(before + 5);
    }, goesOnWithinMs);
    system.expectDirected();
  }
  for (const [index, { accepted }] of leaving.entries()) {
    const times = accepted.slice(acceptedBefore[index]).map(({ atMs }) => atMs);
    frozenMs.push(Math.round(Math.max(...times.slice(1).map((atMs, place) => atMs - (times[place] ?? atMs)))));
  }
  await Promise.all(
    organizations.map(async (each) => {
      await traffic.get(each)?.stopReaders(lastSequence(each));
    }),
  );
  // No request waits for an event at the side that it left.
  for (const each of number % 2 === 1 ? foreign : []) {
    const { server } = each.side;
    expect(differences(each.rows, await readAccountRows(server.url, idsOf(each.rest)))).toEqual([]);
    await operate(server, 'cell', 'prune', '--yes');
    each.rows = await readAccountRows(server.url, idsOf(each.rest));
  }
  await stopTraffic(organizations);
  for (const { side, owned } of foreign) await system.untilSettled(side, idsOf(owned));

  const { repeats, after } = expectDelivered(from);
  const lost = [...(await readDeadWorkers(old)), ...(await readDeadWorkers(next))].filter(
    (id) => !deadBefore.includes(id),
  );
  for (const [each, replay] of replays) expectReplayed(each, replay, from);
  for (const each of organizations) await expectContinued(proxy.url, each, replays.get(each) ?? null);
  for (const { side, owned, rest, rows } of foreign) {
    expect(differences(rows, await readAccountRows(side.server.url, idsOf(rest)))).toEqual([]);
    await expectSound(side, owned, exported);
  }
  worstRepeats = Math.max(worstRepeats, repeats);
  const requests = received.deliveries.length - from;
  const figures = { requests, repeats, after, lostWorkers: lost.length, frozenMs: frozenMs.slice(-leaving.length) };
  const seconds = Math.round((performance.now() - beganMs) / 1_000);
  process.stderr.write(`split ${number + 1}: ${JSON.stringify({ ...figures, seconds })}\n`);
  expect(repeats).toBeLessThanOrEqual(windowMax);

  const goesOn = number % 2 === 0 ? next : old;
  organizations = goesOn === next ? leaving : staying;
  await system.retire(goesOn === next ? old : next);
  if (goesOn === next && number + 1 < splits) await system.complete(next);
  return goesOn;
}

const counts = 'webhook_hour_statistics';

/** What leaves is as before after a split that was aborted, whatever was killed. */
async function abort(
  old: Side,
  leaving: readonly Organization[],
  disturbed: DisturbedSteps,
  args: Record<Step, string[]>,
): Promise<void> {
  await stopTraffic(leaving);
  await system.untilSettled(old, idsOf(leaving));
  // Workers write what they know of attempts apart from their results a little later, and counts within a minute, or at a freeze.
  const before = await eventually(async () => {
    const rows = await readAccountRows(old.server.url, idsOf(leaving));
    await sleep(2_000);
    expect(differences(rows, await readAccountRows(old.server.url, idsOf(leaving)), [counts])).toEqual([]);
    return rows;
  });
  for (const step of steps.slice(0, 1 + Math.floor(random() * 3))) {
    await disturbed.take(step, args[step], pick(victims));
    if (step === 'freeze') letSend(leaving, null);
  }
  letSend(leaving, old.cell);
  await disturbed.take('abort', ['abort', '--yes'], pick(victims));
  await disturbed.untilRecovered();
  await system.untilSettled(old, idsOf(leaving));
  expect(differences(before, await readAccountRows(old.server.url, idsOf(leaving)), [counts])).toEqual([]);
  // No delivery is counted twice.
  expect(
    await old.server.run(
      `select subscription_id, sum(delivered)::int as counted, attempts
       from ${counts} join webhook_subscription s on s.id = subscription_id cross join lateral (
         select count(*)::int as attempts from webhook_attempt a
         where a.subscription_id = s.id and error is null and response_status between 200 and 299
       ) recorded
       where account_id = any ($1)
       group by subscription_id, attempts
       having sum(delivered) > attempts`,
      [idsOf(leaving)],
    ),
  ).toEqual([]);
  for (const each of leaving) traffic.set(each, startTraffic(system.proxy.url, each));
  await system.received.waitForMore(40);
}

async function addOrganizations({ server, cell }: Side): Promise<void> {
  while (organizations.length < organizationsOfCell) {
    const name = `Organization ${everyOrganization.length}`;
    const added = await addOrganization(server.url, system.proxy.url, system.received, name);
    organizations.push(added);
    everyOrganization.push(added);
    letSend([added], cell);
  }
  for (const each of organizations) if (!traffic.has(each)) traffic.set(each, startTraffic(system.proxy.url, each));
}

async function stopTraffic(stopping: readonly Organization[]): Promise<void> {
  await Promise.all(
    stopping.map(async (each) => {
      for (const failure of (await traffic.get(each)?.stop()) ?? []) failures.add(failure);
      traffic.delete(each);
    }),
  );
}

const idsOf = (some: readonly Organization[]): string[] => some.flatMap(({ accountIds }) => accountIds);

const subscriptionsOf = (some: readonly Organization[]): [subscriptionId: string, accountId: string][] =>
  some.flatMap(({ subscriptions, accountIds: [accountId = ''] }) =>
    Object.values(subscriptions).map((id): [string, string] => [id, accountId]),
  );

function letSend(some: readonly Organization[], cell: number | null): void {
  system.letSend(
    subscriptionsOf(some).map(([id]) => id),
    cell,
  );
}

function lastSequence({ subscriptions }: Organization): number {
  const sequences = system.received.deliveries
    .filter(({ subscriptionId }) => subscriptionId === subscriptions.steady)
    .map(({ sequence }) => sequence);
  return sequences.reduce((highest, sequence) => Math.max(highest, sequence), 0);
}

/**
 * Compares all that was ever accepted and delivered, and the repeats from a request on. Returns the most repeats of a subscription,
 * by what was interrupted before.
 */
function expectDelivered(from: number): { repeats: number; after: Record<string, number> } {
  const { deliveries } = system.received;
  const accepted = everyOrganization.flatMap((each) => each.accepted);
  const { lost, unexpected, badSignatures, changedRepeats, gaps } = judge(
    accepted,
    deliveries,
    new Map(subscriptionsOf(everyOrganization)),
    new Map(),
  );
  expect({ lost, unexpected, badSignatures, changedRepeats, gaps }).toEqual({
    lost: 0,
    unexpected: 0,
    badSignatures: 0,
    changedRepeats: 0,
    gaps: 0,
  });
  system.expectDirected();
  const seen = new Set(deliveries.slice(0, from).map(attemptKey));
  const repeats = new Map<string, string[]>();
  for (const [place, delivery] of deliveries.entries()) {
    if (place < from) continue;
    const before = interruptions.findLast((each) => each.from <= place)?.what ?? 'nothing';
    if (seen.has(attemptKey(delivery)))
      repeats.set(delivery.subscriptionId, [...(repeats.get(delivery.subscriptionId) ?? []), before]);
    seen.add(attemptKey(delivery));
  }
  const [worst = []] = [...repeats.values()].toSorted((a, b) => b.length - a.length);
  const after = new Map<string, number>();
  for (const what of worst) count(after, what);
  return { repeats: worst.length, after: Object.fromEntries(after) };
}

function expectReplayed({ subscriptions }: Organization, { fromSequence, toSequence }: Replay, from: number): void {
  const again = system.received.deliveries
    .slice(from)
    .filter(({ subscriptionId, attempt }) => subscriptionId === subscriptions.steady && attempt > 1);
  const sequences = new Set(again.map(({ sequence }) => sequence));
  const wanted = Array.from({ length: toSequence - fromSequence + 1 }, (_, index) => fromSequence + index);
  expect(wanted.filter((sequence) => !sequences.has(sequence))).toEqual([]);
}

async function readDeadWorkers({ server }: Side): Promise<unknown[]> {
  return (await server.run('select id from webhook_worker where not alive')).map(({ id }) => id);
}

/** The database has what was accepted, and the audit log goes on where it was before the split. */
async function expectSound({ cell, server }: Side, owned: readonly Organization[], exported: string): Promise<void> {
  const [stored] = await server.run(
    `select (select count(*)::int from customer_order where account_id = any ($1)) as orders,
       (select count(*)::int from webhook_failed_delivery join webhook_subscription s on s.id = subscription_id
         where account_id = any ($1)) as failed`,
    [idsOf(owned)],
  );
  expect(stored).toEqual({ orders: owned.flatMap(({ accepted }) => accepted).length, failed: 0 });
  const { problems, missingRights, sequences } = JSON.parse(await operate(server, 'database', 'check', '--json'));
  const behind = sequences.filter(({ isBehind }: { isBehind: boolean }) => isBehind);
  expect({ problems, missingRights, behind }).toEqual({ problems: [], missingRights: [], behind: [] });
  const further = exported.replace('.jsonl', `-${cell}.jsonl`);
  await exportAudit(server, further, '--previous', exported);
  const verified = await callOperatorWith({ env: {} }, 'audit', 'verify', exported, further);
  expect([verified.exitCode, verified.stderr]).toEqual([0, '']);
}

async function exportAudit(server: CellServer, path: string, ...options: string[]): Promise<void> {
  await writeFile(path, await operate(server, 'audit', 'export', ...options));
}

/** Runs a command of the operator. Returns what it printed. */
async function operate({ url }: CellServer, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await callOperatorWith({ env: operatorEnv(url) }, ...args);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}
