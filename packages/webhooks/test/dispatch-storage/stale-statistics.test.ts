import { toRecordId } from '@deedwire/domain';
import type { Database } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import { countClaims, lockPendingDeliveries } from '../../src/dispatch/sql/pending-deliveries.ts';
import { settle } from '../../src/dispatch/sql/results.ts';
import { QueuedAccount } from '../../src/fan-out/queued-account.ts';
import type { PickedEntry } from '../../src/fan-out/round-plan.ts';
import { countEntryClaims } from '../../src/fan-out/sql/queue.ts';
import { writeRound } from '../../src/fan-out/sql/round.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { batchRows, deleteExpiredQueueEntries, expirePendingDeliveries } from '../../src/retention/sql/expired-rows.ts';
import { releaseShards } from '../../src/workers/sql/shard-rows.ts';
import { explain } from './explain.ts';
import { failure, StorageWorld, success } from './support.ts';

/** Rows of each statement, except those of retention, which choose `batchRows` themselves. */
const batchSize = 500;

/**
 * Both queues are empty most of the time, and this is what the statistics of the planner then say, although a backlog has
 * 20,000 rows.
 */
const world = await forFile(StorageWorld.create());
const lanes: SubscriptionId[] = [];
for (let lane = 0; lane < 50; lane += 1) lanes.push(await world.addLane());
const add = async (): Promise<void> => {
  for (const lane of lanes) await world.addDeliveries(lane, 400);
  await world.admin.run(
    `insert into webhook_event_queue (account_id, interface, event_id)
     select $1, $2, i from generate_series(1, 20000) i`,
    [world.account.id, world.account.interfaceName],
  );
};
await add();
for (const table of ['webhook_pending_delivery', 'webhook_event_queue']) {
  // It would replace these statistics if the test runs for a minute.
  await world.admin.run(`alter table ${table} set (autovacuum_enabled = false)`);
  // The last row keeps the pages, with which the density of the rows is almost 0.
  await world.admin.run(`delete from ${table} where ctid <> (select max(ctid) from ${table})`);
  await world.admin.run(`vacuum analyze ${table}`);
}
await add();
const deliveries: PendingDelivery[] = [];
for (const lane of lanes) deliveries.push(...(await world.read(lane)).slice(0, batchSize / lanes.length));
const account = new QueuedAccount(world.account.id);
const rows = await world.admin.run('select position, event_id from webhook_event_queue order by position limit $1', [
  batchSize,
]);
const entries: PickedEntry[] = rows.map(({ position, event_id: eventId }) => ({
  account,
  entry: {
    position: Number(position),
    eventId: toRecordId(String(eventId)),
    subscriptionId: null,
    claims: 0,
    isCounted: false,
  },
}));

const round = { subscriptions: [], deliveries: [], payloads: [], deferred: [], blocked: [], leftOver: [] };

/** After the last id. */
const lastId = '9223372036854775807';
const allExpired = {
  deliveriesBefore: toRecordId<'WebhookDelivery'>(lastId),
  eventsBefore: toRecordId<'WebhookEvent'>(lastId),
};

const successes = deliveries.map((each) => success(each));
const failures = deliveries.map((each, index) =>
  failure(each, 5_000, index % 10 === 0 ? { laneState: cleanLaneState } : {}),
);

const statements: [name: string, run: (database: Database) => Promise<unknown>][] = [
  ['settle, successes', (database) => settle(database, world.workerId, successes)],
  ['settle, failures', (database) => settle(database, world.workerId, failures)],
  ['countClaims', (database) => countClaims(database, world.workerId, deliveries)],
  ['lockPendingDeliveries', (database) => lockPendingDeliveries(database, deliveries)],
  ['writeRound', (database) => writeRound(database, world.workerId, { ...round, done: entries })],
  [
    'writeRound, blocked entries',
    (database) => {
      const blocked = entries.map((entry) => ({ ...entry, blockedOn: 'referral.created' }));
      return writeRound(database, world.workerId, { ...round, done: [], blocked });
    },
  ],
  [
    'releaseShards',
    (database) =>
      releaseShards(
        { query: (...values) => database.query(...values), notifyAfterCommit: () => {} },
        world.workerId,
        [],
        [],
        deliveries,
      ),
  ],
  ['expirePendingDeliveries', (database) => expirePendingDeliveries(database, allExpired, null)],
  ['deleteExpiredQueueEntries', (database) => deleteExpiredQueueEntries(database, allExpired.eventsBefore, null)],
  ['countEntryClaims', (database) => countEntryClaims(database, world.workerId, entries)],
];

describe.each(['generic', 'custom'] as const)('with a %s plan', (planning) => {
  test.each(statements)('%s reads no more rows than its batch has', async (_, run) => {
    const plan = await explain(world.admin, run, planning);
    expect(plan.rowsMax).toBeLessThanOrEqual(batchRows);
    expect(plan.removedMax).toBeLessThanOrEqual(batchRows);
  });
});
