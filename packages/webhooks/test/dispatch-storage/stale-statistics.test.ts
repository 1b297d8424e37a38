import { toRecordId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test } from 'vitest';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import { countClaims, lockPendingDeliveries } from '../../src/dispatch/sql/pending-deliveries.ts';
import { settle } from '../../src/dispatch/sql/results.ts';
import { QueuedAccount } from '../../src/fan-out/queued-account.ts';
import type { PickedEntry } from '../../src/fan-out/round-plan.ts';
import { unblockEntries } from '../../src/fan-out/sql/blocked-queue.ts';
import { countEntryClaims } from '../../src/fan-out/sql/queue.ts';
import { areGone, readLockedAccounts, writeRound } from '../../src/fan-out/sql/round.ts';
import type { WorkerId } from '../../src/fence/fence.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { batchRows, deleteExpiredQueueEntries, expirePendingDeliveries } from '../../src/retention/sql/expired-rows.ts';
import { releaseShards } from '../../src/workers/sql/shard-rows.ts';
import { seedAccount } from '../support/seed.ts';
import { explain, planNow, type PlanSummary } from './explain.ts';
import { failure, StorageWorld, success } from './support.ts';

/** Rows of each statement, except those of retention, which choose `batchRows` themselves. */
const batchSize = 500;

/** Of a row that is looked up, changed, and written into the history. To find one, 80 pages or more of an index are too many. */
const pagesPerRow = 40;

interface Batch {
  readonly deliveries: readonly PendingDelivery[];
  readonly entries: readonly PickedEntry[];
}

/** Both queues are empty most of the time, and this is what the planner then knows, although a backlog has 20,000 rows. */
const queues = ['webhook_pending_delivery', 'webhook_event_queue'];
const world = await forFile(StorageWorld.create());
const lanes: SubscriptionId[] = [];
for (let lane = 0; lane < 50; lane += 1) lanes.push(await world.addLane());
for (let other = 0; other < 200; other += 1) await seedAccount(world.superuser);
/** The batch is of the last one of 201 accounts in the order of the index. */
const account = new QueuedAccount((await seedAccount(world.superuser)).id);
// It would replace the statistics if the test runs for a minute.
for (const table of queues) await world.admin.run(`alter table ${table} set (autovacuum_enabled = false)`);

async function fill(): Promise<void> {
  for (const lane of lanes) await world.addDeliveries(lane, 400);
  const insert = 'insert into webhook_event_queue (account_id, interface, event_id) select';
  await world.admin.run(`${insert} $1, $2, i from generate_series(1, $3::int) i`, [
    account.id,
    world.account.interfaceName,
    batchSize,
  ]);
  await world.admin.run(`${insert} a.id, a.interface, i from account a, generate_series(1, 100) i where a.id <> $1`, [
    account.id,
  ]);
}

async function readBatch(): Promise<Batch> {
  const deliveries: PendingDelivery[] = [];
  for (const lane of lanes) deliveries.push(...(await world.read(lane)).slice(0, batchSize / lanes.length));
  const rows = await world.admin.run('select position, event_id from webhook_event_queue where account_id = $1', [
    account.id,
  ]);
  const entries = rows.map(({ position, event_id: eventId }) => ({
    account,
    entry: {
      position: Number(position),
      eventId: toRecordId<'WebhookEvent'>(String(eventId)),
      subscriptionId: null,
      claims: 0,
      isCounted: false,
    },
  }));
  return { deliveries, entries };
}

async function empty(condition: (table: string) => string): Promise<void> {
  for (const table of queues) {
    await world.admin.run(`delete from ${table} where ${condition(table)}`);
    await world.admin.run(`vacuum analyze ${table}`);
  }
}

const round = { done: [], subscriptions: [], deliveries: [], payloads: [], deferred: [], blocked: [], leftOver: [] };

/** After the last id. */
const lastId = '9223372036854775807';
const allExpired = {
  deliveriesBefore: toRecordId<'WebhookDelivery'>(lastId),
  eventsBefore: toRecordId<'WebhookEvent'>(lastId),
};

const successes = (deliveries: Batch['deliveries']) => deliveries.map((each) => success(each));
const failures = (deliveries: Batch['deliveries']) =>
  deliveries.map((each, index) => failure(each, 5_000, index % 10 === 0 ? { laneState: cleanLaneState } : {}));
const blocked = (entries: Batch['entries']) => entries.map((entry) => ({ ...entry, blockedOn: 'order.placed' }));
const positions = (entries: Batch['entries']) => entries.map(({ entry }) => entry.position);

type Run = (database: Database, worker: WorkerId, batch: Batch) => Promise<unknown>;

const statements: [name: string, run: Run][] = [
  ['settle, successes', (database, worker, { deliveries }) => settle(database, worker, successes(deliveries))],
  ['settle, failures', (database, worker, { deliveries }) => settle(database, worker, failures(deliveries))],
  ['countClaims', (database, worker, { deliveries }) => countClaims(database, worker, deliveries)],
  ['lockPendingDeliveries', (database, _, { deliveries }) => lockPendingDeliveries(database, deliveries)],
  ['writeRound', (database, worker, { entries }) => writeRound(database, worker, { ...round, done: entries })],
  [
    'writeRound, blocked entries',
    (database, worker, { entries }) => writeRound(database, worker, { ...round, blocked: blocked(entries) }),
  ],
  [
    'releaseShards',
    (database, worker, { deliveries }) =>
      releaseShards(
        { query: (...values) => database.query(...values), notifyAfterCommit: () => {} },
        worker,
        [],
        [],
        deliveries.map((delivery) => ({ ...delivery, timeoutMs: 5_000 })),
      ),
  ],
  ['expirePendingDeliveries', (database) => expirePendingDeliveries(database, allExpired, null)],
  ['deleteExpiredQueueEntries', (database) => deleteExpiredQueueEntries(database, allExpired.eventsBefore, null)],
  ['countEntryClaims', (database, worker, { entries }) => countEntryClaims(database, worker, entries)],
  ['readLockedAccounts', (database, _, { entries }) => readLockedAccounts(database, entries, [])],
  ['areGone', (database, _, { entries }) => areGone(database, entries)],
  [
    'unblockEntries',
    (database, worker, { entries }) => unblockEntries(database, worker, account.id, positions(entries)),
  ],
];

const areFew = ({ rowsMax, removedMax, buffers }: PlanSummary): boolean =>
  Math.max(rowsMax, removedMax) <= batchRows && buffers < pagesPerRow * rowsMax;

describe('with statistics of emptied queues', () => {
  let batch: Batch;
  beforeAll(async () => {
    await fill();
    // The last row keeps the pages, with which the density of the rows is almost 0.
    await empty((table) => `ctid <> (select max(ctid) from ${table})`);
    await fill();
    batch = await readBatch();
  });

  describe.each(['generic', 'custom'] as const)('and a %s plan', (planning) => {
    test.each(statements)('%s reads few pages for each row of its batch', async (_, run) => {
      const plan = await explain(world.admin, (database) => run(database, world.workerId, batch), planning);
      expect(plan).toSatisfy(areFew);
    });
  });
});

describe('with a plan that was cached while the queues had no pages', () => {
  const explained = new Map<string, () => Promise<PlanSummary>>();
  beforeAll(async () => {
    let batch = await readBatch();
    await empty(() => 'true');
    for (const [name, run] of statements) {
      explained.set(name, await planNow(world.admin, (database) => run(database, world.workerId, batch)));
    }
    await fill();
    batch = await readBatch();
  });

  test.each(statements)('%s reads few pages for each row of its batch', async (name) => {
    expect(await (explained.get(name) ?? missing())()).toSatisfy(areFew);
  });
});
