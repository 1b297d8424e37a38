import type { Database } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { type LaneMarks, type LastAttempt, noMarks } from '../../src/dispatch/lane-walk.ts';
import { walkLane } from '../../src/dispatch/sql/pending-deliveries.ts';
import type { Walk, WalkOptions } from '../../src/dispatch/storage.ts';
import type { SubscriptionId } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { releaseShards } from '../../src/workers/sql/shard-rows.ts';
import { holdQueue } from '../support/seed.ts';
import { failure, StorageWorld, success } from './support.ts';

const world = await forFile(StorageWorld.create());

const hourMs = 3_600_000;
const minuteAgo = (): number => Date.now() - 60_000;

const walk = (lane: SubscriptionId, marks: Partial<LaneMarks>, changes: Partial<WalkOptions> = {}): Promise<Walk> =>
  world.storage.walk(lane, {
    marks: { ...noMarks, ...marks },
    after: '0',
    limit: 1_000,
    bodyBytesMax: 1_000_000,
    exclude: [],
    ...changes,
  });

const sequencesOf = (deliveries: readonly PendingDelivery[]): number[] =>
  deliveries.map(({ sequence }) => Number(sequence)).toSorted((a, b) => a - b);

const fail = (delivery: PendingDelivery, last: Partial<LastAttempt> = {}, delayMs = hourMs, isHastened = false) =>
  failure(delivery, delayMs, { isHastened, lastAttempt: { atMs: minuteAgo(), isTransient: true, ...last } });

const rowsOf = (lane: SubscriptionId) =>
  world.admin.run(
    `select sequence::int, attempts, prior_attempts, last_is_transient as transient,
       round(date_part('epoch', last_attempt_at) * 1000)::float8 as last_ms,
       round(date_part('epoch', due_at - now()) / 60)::int as minutes
     from webhook_pending_delivery where subscription_id = $1 order by sequence`,
    [lane],
  );

const hastenedOf = async (lane: SubscriptionId): Promise<Date | null> => {
  const [row] = await world.admin.run('select hastened_at from webhook_subscription where id = $1', [lane]);
  return row?.['hastened_at'] as Date | null;
};

/** The number of queued changes of a subscription. Creating it queues the first one. */
const changesOf = async (lane: SubscriptionId): Promise<number> =>
  (await world.admin.run('select from webhook_event_queue where subscription_id = $1', [lane])).length;

test('reads what failed before a mark, with bodies and the time of its retry', async () => {
  const { lane, deliveries } = await world.seedLane(4);
  const [refused, unreachable, retriedSoon, unsent] = deliveries;
  await world.storage.settle([fail(refused, { isTransient: false }), fail(unreachable), fail(retriedSoon, {}, 9_000)]);
  await world.admin.run(
    `update webhook_pending_delivery set due_at = now() + interval '1 hour' where subscription_id = $1 and delivery_id = $2`,
    [lane, unsent.deliveryId],
  );
  const nowMs = Date.now();
  const hastened = await walk(lane, { hastenedAtMs: nowMs });
  expect(hastened.readTo).toBeNull();
  expect(sequencesOf(hastened.deliveries)).toEqual([2]);
  expect(hastened.deliveries[0]).toMatchObject({ body: Buffer.from('{"sequence":2}'), attempts: 1, priorAttempts: 0 });
  expect(hastened.deliveries[0]?.dueAtMs).toBeGreaterThan(nowMs + hourMs - 60_000);
  expect(sequencesOf((await walk(lane, { sendPendingAtMs: nowMs })).deliveries)).toEqual([1, 2]);
  const both = { hastenedAtMs: nowMs, sendPendingAtMs: minuteAgo() - 1_000 };
  expect(sequencesOf((await walk(lane, both)).deliveries)).toEqual([2]);
  expect((await walk(lane, { hastenedAtMs: minuteAgo() - 1_000 })).deliveries).toEqual([]);
  expect(
    (await walk(lane, { sendPendingAtMs: nowMs }, { exclude: [refused.deliveryId, unreachable.deliveryId] }))
      .deliveries,
  ).toEqual([]);
});

test('says whether deliveries failed since the receiver worked again', async () => {
  const { lane, deliveries } = await world.seedLane(2);
  const atMs = minuteAgo();
  await world.storage.settle([fail(deliveries[0], { atMs }), fail(deliveries[1], { atMs, isTransient: false })]);
  const hasFailedSince = async (hastenedAtMs: number, after = '0'): Promise<boolean> =>
    (await walk(lane, { hastenedAtMs }, { after })).hasFailedSince;
  expect(await hasFailedSince(atMs)).toBe(true);
  expect(await hasFailedSince(atMs + 1)).toBe(false);
  expect(await hasFailedSince(atMs, deliveries[0].deliveryId)).toBe(false);
});

test('keeps an attempt that began at the mark, or whose Retry-After ends later', async () => {
  const { lane, deliveries } = await world.seedLane(2);
  const atMs = minuteAgo();
  await world.storage.settle([fail(deliveries[0], { atMs }), fail(deliveries[1], { atMs: atMs + hourMs })]);
  expect((await walk(lane, { sendPendingAtMs: atMs })).deliveries).toEqual([]);
  expect(sequencesOf((await walk(lane, { sendPendingAtMs: atMs + 1 })).deliveries)).toEqual([1]);
});

test('reads nothing that a worker of an earlier release recorded', async () => {
  const { lane, deliveries } = await world.seedLane(2);
  await world.storage.settle(deliveries.map((delivery) => fail(delivery)));
  await world.admin.run(
    'update webhook_pending_delivery set last_attempt_at = null, last_is_transient = null where subscription_id = $1',
    [lane],
  );
  expect(await walk(lane, { hastenedAtMs: Date.now(), sendPendingAtMs: Date.now() })).toEqual({
    deliveries: [],
    readTo: null,
    hasFailedSince: false,
  });
});

test('reads 512 rows at most, and continues after the last one that fits', async () => {
  const { lane, deliveries } = await world.seedLane<number>(520);
  await world.storage.settle(deliveries.map((delivery, index) => fail(delivery, { isTransient: index >= 515 })));
  const ids = deliveries.map(({ deliveryId }) => deliveryId).toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const hastenedAtMs = Date.now();
  const first = await walk(lane, { hastenedAtMs });
  expect(first).toEqual({ deliveries: expect.any(Array), readTo: ids[511], hasFailedSince: false });
  const rest = await walk(lane, { hastenedAtMs }, { after: first.readTo ?? '' });
  expect([...first.deliveries, ...rest.deliveries]).toHaveLength(5);
  expect(rest.readTo).toBeNull();
  const found: PendingDelivery[] = [];
  for (let after: string | null = '0'; after !== null;) {
    const part: Walk = await walk(lane, { sendPendingAtMs: hastenedAtMs }, { after, limit: 100 });
    expect(part.deliveries.length).toBeLessThanOrEqual(100);
    found.push(...part.deliveries);
    after = part.readTo;
  }
  expect(found.map(({ deliveryId }) => deliveryId)).toEqual(ids);
});

test('reads from the database no more than it returns, and one', async () => {
  const { lane, deliveries } = await world.seedLane<number>(10);
  await world.storage.settle(deliveries.map((delivery) => fail(delivery)));
  const read: number[] = [];
  const database: Database = {
    async query<Row extends object>(...given: Parameters<Database['query']>): Promise<Row[]> {
      const rows = await world.store.query<Row & { deliveries?: unknown[] }>(...given);
      for (const row of rows) if (row.deliveries) read.push(row.deliveries.length);
      return rows;
    },
  };
  const options = { marks: { ...noMarks, hastenedAtMs: Date.now() }, after: '0', bodyBytesMax: 1_000, exclude: [] };
  for (const limit of [1, 16]) await walkLane(database, world.workerId, lane, { ...options, limit }, () => {});
  expect(read).toEqual([2, 10]);
});

test('a failed attempt of what was hastened does not count for its schedule, and a postponed one changes nothing', async () => {
  const { lane, deliveries } = await world.seedLane(2);
  const atMs = minuteAgo();
  await world.storage.settle([fail(deliveries[0], { atMs }), fail(deliveries[1], { atMs, isTransient: false })]);
  const { deliveries: read } = await walk(lane, { sendPendingAtMs: Date.now() });
  const [first, second] = read.toSorted((a, b) => Number(a.sequence) - Number(b.sequence));
  if (first === undefined || second === undefined) throw new Error('Two deliveries are due.');
  await world.storage.settle([
    fail(first, { atMs: atMs + 1_000, isTransient: false }, 0, true),
    failure(second, 15_000, { attempt: null, lastAttempt: null, isHastened: true }),
  ]);
  expect(await rowsOf(lane)).toEqual([
    { sequence: 1, attempts: 2, prior_attempts: 1, transient: false, last_ms: atMs + 1_000, minutes: 60 },
    { sequence: 2, attempts: 1, prior_attempts: 0, transient: false, last_ms: atMs, minutes: 60 },
  ]);
  await world.storage.settle([fail({ ...first, attempts: 2 }, { atMs }, 2 * hourMs, true)]);
  expect((await rowsOf(lane))[0]).toMatchObject({ attempts: 3, prior_attempts: 2, minutes: 120 });
});

test('a success after failures is recorded with a mark, at most once an hour', async () => {
  const { lane, deliveries } = await world.seedLane(4);
  expect(await hastenedOf(lane)).toBeNull();
  expect(await changesOf(lane)).toBe(1);
  await world.storage.settle([
    success(deliveries[0], {}, { hastens: true }),
    success(deliveries[1], {}, { hastens: true }),
  ]);
  const first = await hastenedOf(lane);
  expect(first).toBeInstanceOf(Date);
  expect(await changesOf(lane)).toBe(2);
  expect((await world.storage.targets([lane])).get(lane)?.marks).toEqual({
    hastenedAtMs: first?.getTime(),
    sendPendingAtMs: -Infinity,
  });
  await world.storage.settle([success(deliveries[2], {}, { hastens: true })]);
  expect(await hastenedOf(lane)).toEqual(first);
  expect(await changesOf(lane)).toBe(2);
  await world.admin.run(
    `update webhook_subscription set hastened_at = hastened_at - interval '61 minutes' where id = $1`,
    [lane],
  );
  await world.storage.settle([success(deliveries[3], {}, { hastens: true })]);
  expect((await hastenedOf(lane))?.getTime()).toBeGreaterThanOrEqual(first?.getTime() ?? Infinity);
  expect(await world.counts(lane)).toMatchObject({ pending: 0, attempts: 4 });
});

test('a subscription that another transaction has locked gets no mark, and delays no result', async () => {
  const { lane, deliveries } = await world.seedLane(1);
  const other = await world.seedLane(1);
  await world.admin.run('begin');
  await world.admin.run('select from webhook_subscription where id = $1 for no key update', [lane]);
  const batch = [deliveries[0], other.deliveries[0]].map((delivery) => success(delivery, {}, { hastens: true }));
  await world.storage.settle(batch);
  await world.admin.run('commit');
  expect(await hastenedOf(lane)).toBeNull();
  expect(await hastenedOf(other.lane)).toBeInstanceOf(Date);
  expect(await world.counts(lane)).toMatchObject({ pending: 0, attempts: 1 });
});

test('no mark is set by a stale result, or after a new URL, a pause or a deletion', async () => {
  const stale = await world.seedLane(1);
  await world.storage.settle([success(stale.deliveries[0])]);
  await world.storage.settle([success(stale.deliveries[0], {}, { hastens: true })]);
  expect(await hastenedOf(stale.lane)).toBeNull();
  for (const change of ['changeUrl', 'pause', 'delete'] as const) {
    const { lane, deliveries } = await world.seedLane(1);
    await world[change](lane);
    await world.storage.settle([success(deliveries[0], {}, { hastens: true })]);
    expect(await hastenedOf(lane)).toBeNull();
    expect(await world.counts(lane)).toMatchObject({ pending: 0, attempts: 1 });
  }
});

test('what is in flight when its shard is released is left to its result, even by a mark that is set meanwhile', async () => {
  const { lane, deliveries } = await world.seedLane(2);
  await world.storage.settle(deliveries.map((delivery) => fail(delivery)));
  await world.store.transaction((transaction) =>
    releaseShards(
      transaction,
      world.workerId,
      [],
      [],
      [{ subscriptionId: lane, deliveryId: deliveries[0].deliveryId, timeoutMs: 5_000 }],
    ),
  );
  expect(sequencesOf((await walk(lane, { sendPendingAtMs: Date.now() + 5_000 })).deliveries)).toEqual([2]);
});

test('marks in the future are ignored', async () => {
  const lane = await world.addLane();
  for (const time of ["'9999-12-31Z'", "now() + interval '1 hour'"]) {
    await world.admin.run(
      `update webhook_subscription set hastened_at = ${time}, send_pending_at = ${time} where id = $1`,
      [lane],
    );
    expect((await world.storage.targets([lane])).get(lane)?.marks).toEqual(noMarks);
  }
});

test('a result is recorded if its account is frozen while it hastens', async () => {
  const { deliveries } = await world.seedLane(1);
  const freezeMeanwhile = await holdQueue(world.superuser);
  const settlement = success(deliveries[0], {}, { hastens: true });
  const settling = world.storage.settle([settlement]);
  await freezeMeanwhile(world.account);
  expect(await settling).toEqual(new Map([[settlement, 'settled']]));
  await world.admin.run('delete from account_home');
});
