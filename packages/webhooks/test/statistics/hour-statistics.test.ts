import { toRecordId } from '@deedwire/core';
import { createStore, type Database, StoreUnavailableError } from '@deedwire/store';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import type { StatisticsEvent } from '../../src/events.ts';
import type { WorkerId } from '../../src/fence/fence.ts';
import type { ReplayId, SubscriptionId } from '../../src/kernel/ids.ts';
import { HourStatistics } from '../../src/statistics/hour-statistics.ts';
import { writeHourTotals } from '../../src/statistics/sql/write-hour-totals.ts';
import { createWorkerStore } from '../dispatch-storage/support.ts';
import { VirtualClock } from '../dispatch/virtual-clock.ts';
import { createServiceDatabase, seedAccount, seedSubscription, seedWorker } from '../support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const store = await forFile(createWorkerStore(await database.urlFor('webhook_worker')));
const account = await seedAccount(admin, 'supplier');

/** The virtual clock starts at midnight (UTC). */
const midnight = '2026-11-20T00:00:00.000Z';
const minute = 60_000;
const hour = 60 * minute;

let clock: VirtualClock;
let workerId: WorkerId;
let one: SubscriptionId;
let other: SubscriptionId;
let reported: StatisticsEvent[];
let fenced: number;

type Query = (...parameters: Parameters<Database['query']>) => Promise<object[]>;
/** The statements that run. */
const queries = new Set<Promise<object[]>>();

beforeEach(async () => {
  await superuser.run('delete from webhook_hour_statistics');
  clock = new VirtualClock();
  workerId = await seedWorker(admin);
  [one, other] = await admin.transaction(async (transaction) => [
    await seedSubscription(transaction, account),
    await seedSubscription(transaction, account),
  ]);
  [reported, fenced] = [[], 0];
});

/** The counts of a process. */
const startCounting = (using: Query = (statement, values) => store.query(statement, values)): HourStatistics =>
  new HourStatistics({
    store: {
      query: async <Row>(...parameters: Parameters<Database['query']>) => {
        const running = using(...parameters);
        queries.add(running);
        return (await running.finally(() => queries.delete(running))) as Row[];
      },
    },
    clock,
    workerId: () => workerId,
    onFenced: () => void (fenced += 1),
    onEvent: (event) => reported.push(event),
  });

interface Counted {
  next?: 'delivered' | 'failed' | 'retry';
  occurredAt?: string;
  replayId?: ReplayId | null;
  attempt?: object | null;
}

/** Counts a result that is recorded now. */
function count(
  statistics: HourStatistics,
  subscriptionId: SubscriptionId,
  { next = 'delivered', occurredAt = midnight, replayId = null, attempt = {} }: Counted = {},
): void {
  const delivery = { subscriptionId, occurredAt: new Date(occurredAt), replayId };
  statistics.count({ delivery, attempt, next: { kind: next } }, clock.nowMs());
}

/** Runs the timers of the next minute, and what they write. */
async function passMinute(): Promise<void> {
  await clock.advance(minute);
  while (queries.size > 0) {
    await Promise.allSettled(queries);
    await clock.advance(0);
  }
}

const rows = () =>
  superuser.run(
    `select subscription_id as id, hour, interface, delivered, failed_attempts as attempts, failed,
       longest_wait_seconds as wait, last_delivered_at as last
     from webhook_hour_statistics order by hour, subscription_id, counter_id`,
  );

const row = (id: SubscriptionId, hours: number, counts: object) => ({
  id,
  hour: new Date(Date.parse(midnight) + hours * hour),
  interface: 'supplier',
  delivered: 0,
  attempts: 0,
  failed: 0,
  wait: null,
  last: null,
  ...counts,
});

test('writes what changed once a minute, as totals', async () => {
  const statistics = startCounting();
  await clock.advance(10_000);
  count(statistics, one);
  count(statistics, one, { next: 'retry' });
  count(statistics, one, { next: 'failed' });
  // A delivery whose claims were exceeded, and one that our proxy postponed.
  count(statistics, other, { next: 'failed', attempt: null });
  count(statistics, other, { next: 'retry', attempt: null });
  await clock.advance(minute - 1);
  expect(await rows()).toEqual([]);
  await passMinute();
  const first = [
    row(one, 0, { delivered: 1, attempts: 2, failed: 1, wait: 10, last: new Date(midnight) }),
    row(other, 0, { failed: 1 }),
  ];
  expect(await rows()).toEqual(first);

  await superuser.run('delete from webhook_hour_statistics where subscription_id = $1', [other]);
  await clock.advance(minute);
  count(statistics, one, { replayId: toRecordId<'WebhookReplay'>('1') });
  await passMinute();
  // The wait of what a replay queued is not one. Rows without changes are not written again.
  const last = new Date(Date.parse(midnight) + 3 * minute);
  expect(await rows()).toEqual([row(one, 0, { delivered: 2, attempts: 2, failed: 1, wait: 10, last })]);
});

test('totals that are written after later ones lower none', async () => {
  const totals = (number: number) => ({
    subscriptionId: one,
    delivered: number,
    failedAttempts: number,
    failed: number,
    longestWaitMs: number * 1_000,
    lastDeliveredMs: Date.parse(midnight) + number * minute,
  });
  const counted = { startMs: Date.parse(midnight), counterId: 1 };
  for (const number of [2, 1]) await writeHourTotals(store, workerId, counted, [totals(number)]);
  const last = new Date(Date.parse(midnight) + 2 * minute);
  expect(await rows()).toEqual([row(one, 0, { delivered: 2, attempts: 2, failed: 2, wait: 2, last })]);
});

test('counts a write once that is repeated because its outcome was unknown', async () => {
  let losesResponses = true;
  const statistics = startCounting(async (...parameters) => {
    const result = await store.query<object>(...parameters);
    if (losesResponses) throw new StoreUnavailableError(new Error('connection lost'));
    return result;
  });
  count(statistics, one);
  await passMinute();
  expect(await rows()).toMatchObject([{ delivered: 1 }]);
  count(statistics, one);
  await passMinute();
  losesResponses = false;
  await passMinute();
  expect(await rows()).toMatchObject([{ delivered: 2 }]);
  expect(reported.map(({ kind }) => kind)).toEqual(['statistics-not-stored', 'statistics-not-stored']);
});

test('an hour is complete although its last counts are written in the next one', async () => {
  const statistics = startCounting();
  await clock.advance(hour - 1);
  count(statistics, one);
  await clock.advance(2);
  count(statistics, one, { next: 'retry' });
  await passMinute();
  expect(await rows()).toMatchObject([
    row(one, 0, { delivered: 1, wait: 3600, last: new Date('2026-11-20T00:59Z') }),
    row(one, 1, { attempts: 1 }),
  ]);
});

test('a clock that is set back adds to the earlier hour, and takes nothing away', async () => {
  const statistics = startCounting();
  count(statistics, one);
  count(statistics, one);
  await passMinute();
  clock.step(hour);
  count(statistics, one);
  await passMinute();
  clock.step(-hour);
  count(statistics, one);
  await statistics.stop();
  const [before = {}, back = {}] = (await rows()).filter((each) => String(each['hour']) === String(new Date(midnight)));
  expect(Number(before['delivered']) + Number(back['delivered'])).toBe(3);
});

test('processes that send for a subscription one after the other have separate rows, each written at its stop', async () => {
  const [first, second] = [startCounting(), startCounting()];
  count(first, one);
  await first.stop();
  // Of rows that begin in the same millisecond, one in 1,024 pairs has the same number.
  await clock.advance(1);
  for (let times = 0; times < 2; times += 1) count(second, one);
  await second.stop();
  await clock.advance(1);
  expect((await rows()).map(({ delivered }) => delivered)).toEqual(expect.arrayContaining([1, 2]));
  // What is never stopped loses its last minute, and no more.
  const killed = startCounting();
  count(killed, one);
  await passMinute();
  count(killed, one);
  expect((await rows()).reduce((sum, { delivered }) => sum + Number(delivered), 0)).toBe(4);
});

test('a worker that was declared dead writes nothing until it has registered again, and then each count once', async () => {
  const statistics = startCounting();
  count(statistics, one);
  await passMinute();
  await superuser.run('update webhook_worker set alive = false where id = $1', [workerId]);
  count(statistics, one);
  await passMinute();
  expect({ fenced, reported }).toEqual({ fenced: 1, reported: [] });
  expect(await rows()).toMatchObject([{ delivered: 1 }]);
  workerId = await seedWorker(admin);
  await passMinute();
  expect(await rows()).toMatchObject([{ delivered: 2 }]);
});

test('a deleted subscription gets no row, and the others of its statement do', async () => {
  const statistics = startCounting();
  await superuser.run('update webhook_subscription set deleted_at = now() where id = $1', [one]);
  count(statistics, one);
  count(statistics, other);
  await statistics.stop();
  expect(await rows()).toMatchObject([{ id: other, delivered: 1 }]);
});

test('writes 10,000 subscriptions with one statement a minute, of two hours with two', async () => {
  let statements = 0;
  const statistics = startCounting(async () => {
    statements += 1;
    return [{ isAlive: true }];
  });
  const countAll = (): void => {
    for (let number = 1; number <= 10_000; number += 1)
      count(statistics, toRecordId<'WebhookSubscription'>(String(number)));
  };
  for (let minutes = 1; minutes <= 3; minutes += 1) {
    countAll();
    await passMinute();
    expect(statements).toBe(minutes);
  }
  countAll();
  clock.step(hour);
  countAll();
  await passMinute();
  expect(statements).toBe(5);
});

test('keeps few hours in memory while the database refuses them, and reports what it drops', async () => {
  const written: unknown[] = [];
  let refuses = true;
  const statistics = startCounting(async (_, [, startMs]) => {
    if (refuses) throw new StoreUnavailableError(new Error('connection lost'));
    written.push(startMs);
    return [{ isAlive: true }];
  });
  for (let hours = 0; hours < 30; hours += 1) {
    count(statistics, one);
    count(statistics, other);
    await passMinute();
    clock.step(hour);
  }
  expect(reported.filter(({ kind }) => kind === 'statistics-dropped')).toEqual(
    Array.from({ length: 6 }, () => ({ kind: 'statistics-dropped', count: 2 })),
  );
  refuses = false;
  await statistics.stop();
  expect(written).toHaveLength(24);
});

test('writes later hours while the database refuses an earlier one', async () => {
  const statistics = startCounting(async (...parameters) => {
    const [, values] = parameters;
    if (values[1] === Date.parse(midnight)) throw new Error('refused');
    return store.query<object>(...parameters);
  });
  count(statistics, one);
  clock.step(hour);
  count(statistics, one);
  await passMinute();
  expect(await rows()).toMatchObject([row(one, 1, { delivered: 1, wait: 3600, last: new Date('2026-11-20T01:00Z') })]);
  expect(reported).toEqual([{ kind: 'statistics-not-stored', hours: 1, error: new Error('refused') }]);
  await statistics.stop();
  expect(reported.at(-1)).toEqual({ kind: 'statistics-dropped', count: 1 });
});

test('frees the counts of many subscriptions once they are written, and counts them in new rows', async () => {
  const written: [counterId: unknown, ids: string][] = [];
  let isSlow = false;
  const statistics = startCounting(async (_, [, , counterId, ids]) => {
    written.push([counterId, String(ids)]);
    // Counted during the write.
    if (isSlow) count(statistics, one);
    isSlow = false;
    return [{ isAlive: true }];
  });
  const countMany = (subscriptions: number): void => {
    for (let number = 1; number <= subscriptions; number += 1)
      count(statistics, toRecordId<'WebhookSubscription'>(String(number)));
  };
  countMany(50_000);
  await passMinute();
  countMany(1);
  await passMinute();
  expect(new Set(written.splice(0).map(([counterId]) => counterId)).size).toBe(1);

  countMany(50_001);
  isSlow = true;
  await passMinute();
  const [[first] = missing()] = written.splice(0);
  count(statistics, other);
  await passMinute();
  expect(written).toEqual([
    [first, `{${one}}`],
    [expect.any(Number), `{${other}}`],
  ]);
  expect(written[1]?.[0]).not.toBe(first);
});

test('a stop waits for a write that fails, and does not repeat it', async () => {
  const failing = Promise.withResolvers<never>();
  let statements = 0;
  const statistics = startCounting(() => {
    statements += 1;
    return failing.promise;
  });
  count(statistics, one);
  const writing = statistics.write();
  count(statistics, other);
  const stopping = statistics.stop();
  failing.reject(new StoreUnavailableError(new Error('timeout')));
  await stopping;
  expect(await writing).toBe(false);
  expect(statements).toBe(1);
  expect(reported).toMatchObject([
    { kind: 'statistics-not-stored', hours: 1 },
    { kind: 'statistics-dropped', count: 2 },
  ]);
  expect(clock.timers).toBe(0);
});

test.each(['stop', 'flush'] as const)('a %s writes what was counted while an earlier write ran', async (end) => {
  const statistics = startCounting();
  count(statistics, one);
  void statistics.write();
  count(statistics, one);
  count(statistics, other);
  await statistics[end]();
  expect(await rows()).toMatchObject([
    { id: one, delivered: 2 },
    { id: other, delivered: 1 },
  ]);
  await statistics.stop();
  expect(clock.timers).toBe(0);
});
