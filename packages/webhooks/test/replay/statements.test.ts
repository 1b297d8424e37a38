import { idAt, toRecordId } from '@deedwire/core';
import { onlyRow } from '@deedwire/store';
import { connect, missing, untilBlocked } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import type { Settlement } from '../../src/dispatch/storage.ts';
import { FencedOutError } from '../../src/fence/fence.ts';
import { type DeliveryId, type SubscriptionId, shardOf } from '../../src/kernel/ids.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { feedReplay } from '../../src/replay/sql/feed.ts';
import { selectOpenReplays } from '../../src/replay/sql/open-replays.ts';
import { selectPart } from '../../src/replay/sql/parts.ts';
import { retryPendingDelivery } from '../../src/replay/sql/retry.ts';
import type { FeedResult, OpenReplay } from '../../src/replay/storage.ts';
import { createReplayStorage } from '../../src/replay/store-replays.ts';
import { explain } from '../dispatch-storage/explain.ts';
import { createWorkerStore, failure, finalFailure, StorageWorld, success } from '../dispatch-storage/support.ts';

const world = await forFile(StorageWorld.create());
const storage = createReplayStorage(world.store, () => world.workerId);

interface ReplayOptions {
  deliveryId?: DeliveryId;
  onlyFailed?: boolean;
  types?: string[];
  fromSequence?: number;
  untilSequence?: number;
  /** Defaults to 0. */
  lastId?: DeliveryId;
}

/** Inserts a replay of everything so far, as an API does, and reads it as the worker does. */
async function addReplay(
  lane: SubscriptionId,
  { deliveryId, onlyFailed = true, types, fromSequence, untilSequence, lastId }: ReplayOptions = {},
): Promise<OpenReplay> {
  const rows = await world.admin.run(
    `insert into webhook_replay (account_id, interface, subscription_id, delivery_id, event_types, only_failed, per_second,
       from_id, until_id, from_sequence, until_sequence, last_id)
     values ($1, 'customer', $2, $3, $4, $5, 50, 0, new_record_id(), $6, $7, $8)
     returning id::text`,
    [
      world.account.id,
      lane,
      deliveryId ?? null,
      types ?? null,
      onlyFailed,
      fromSequence ?? null,
      untilSequence ?? null,
      lastId ?? 0,
    ],
  );
  const { id } = onlyRow(rows);
  const open = await readOpen();
  const found = open.find((replay) => replay.id === id);
  if (found === undefined) throw new Error('The replay is not open.');
  return found;
}

const readOpen = () => storage.open([shardOf(world.account.id)]);

/** Queues all that is left of a replay, `size` deliveries at a time. */
async function feedAll(replay: OpenReplay, size = 8): Promise<PendingDelivery[]> {
  const queued: PendingDelivery[] = [];
  for (let { lastId } = replay; ;) {
    const part = await storage.part(replay, lastId);
    for (let start = 0; start === 0 || start < part.deliveries.length; start += size) {
      const deliveries = part.deliveries.slice(start, start + size);
      const isEnd = start + size >= part.deliveries.length;
      const end = isEnd ? part : { lastId: deliveries.at(-1)?.id ?? part.lastId, isLast: false };
      const result = await storage.feed(replay, lastId, { ...end, deliveries });
      if (result === 'changed') throw new Error('The replay has changed.');
      queued.push(...result);
      lastId = end.lastId;
    }
    if (part.isLast) return queued;
  }
}

/** A lane whose deliveries have failed, with an attempt each. */
async function seedFailed(count: number): Promise<{ lane: SubscriptionId; deliveries: PendingDelivery[] }> {
  const lane = await world.addLane();
  await world.addDeliveries(lane, count);
  const deliveries = await world.read(lane);
  await world.storage.settle(deliveries.map((delivery) => finalFailure(delivery)));
  return { lane, deliveries };
}

async function replayRow({ id }: OpenReplay): Promise<Record<string, unknown>> {
  return onlyRow(
    await world.admin.run(
      `select queued, skipped, skipped_pending as "skippedPending", ended_at is not null as ended, last_id::text as "lastId" from webhook_replay where id = $1`,
      [id],
    ),
  );
}

const sequences = (deliveries: readonly { sequence: string }[]): number[] =>
  deliveries.map(({ sequence }) => Number(sequence)).toSorted((a, b) => a - b);

describe('a failed delivery that is retried', () => {
  test.each([
    ['while an alert reports it', `select webhook_raise_alerts($1, 'service')`],
    ['while its row is changed', 'update webhook_failed_delivery set interface = interface where subscription_id = $1'],
  ])('is no longer in the failure log, %s', async (_, text) => {
    const { lane, deliveries } = await seedFailed(1);
    const retry = await addReplay(lane, { deliveryId: onlyRow(deliveries).deliveryId, onlyFailed: false });
    await world.admin.run(`update webhook_failure_to_report set failed_at = failed_at - interval '5 minutes'`);
    const other = await connect(world.database.databaseUrl);
    await other.run('begin');
    await other.run(text, [lane]);
    const fed = feedAll(retry);
    await Promise.race([fed, untilBlocked(world.admin)]);
    await other.run('commit');
    await fed;
    await other.close();
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 1, failed: 0 });
  });
});

describe('a replay', () => {
  test('of failed deliveries queues each once, with its bytes, and counts its attempts on', async () => {
    const { lane, deliveries } = await seedFailed(20);
    const delivered = await world.seedLane(1);
    const replay = await addReplay(lane);
    const queued = await feedAll(replay);
    expect(sequences(queued)).toEqual(sequences(deliveries));
    expect(await world.counts(lane)).toEqual({ pending: 20, attempts: 20, failed: 0 });
    expect(await world.counts(delivered.lane)).toEqual({ pending: 1, attempts: 0, failed: 0 });
    expect(await replayRow(replay)).toMatchObject({ queued: 20, skipped: 0, ended: true });
    // What is offered is what a worker would read.
    const read = await world.read(lane);
    expect(read.toSorted(bySequence)).toMatchObject(queued.toSorted(bySequence));
    const [first] = queued.toSorted(bySequence);
    expect(first).toMatchObject({ attempts: 1, priorAttempts: 1, replayId: replay.id, requestId: null, claims: [] });
    expect(first?.body.toString()).toBe('{"sequence":1}');
  });

  test('keeps what is counted and why it was queued when an attempt fails', async () => {
    const { lane } = await seedFailed(1);
    const replay = await addReplay(lane);
    const [queued] = await feedAll(replay);
    if (queued === undefined) throw new Error('Nothing was queued.');
    await world.storage.settle([failure(queued, 0)]);
    expect(await world.read(lane)).toMatchObject([{ attempts: 2, priorAttempts: 1, replayId: replay.id }]);
  });

  test('sends a test event as a test event again', async () => {
    const { lane, deliveries } = await seedFailed(2);
    await world.admin.run(
      `insert into webhook_event (id, account_id, interface, event_type, snapshot, is_test)
       values ($1, $2, 'customer', 'order.placed', '{}', true)`,
      [deliveries[1]?.eventId, world.account.id],
    );
    const queued = await feedAll(await addReplay(lane));
    for (const offered of [queued, await world.read(lane)])
      expect(offered.toSorted(bySequence).map(({ isTest }) => isTest)).toEqual([false, true]);
  });

  test('of everything skips what is pending, has no payload or has expired', async () => {
    const { lane, deliveries } = await world.seedLane(4);
    const [first, second, third] = deliveries;
    await world.storage.settle([success(first), success(second), finalFailure(third)]);
    await world.admin.run('delete from webhook_payload where event_id = $1', [second.eventId]);
    const replay = await addReplay(lane, { onlyFailed: false });
    expect(sequences(await feedAll(replay))).toEqual([1, 3]);
    expect(await replayRow(replay)).toMatchObject({ queued: 2, skipped: 2, skippedPending: 1, ended: true });
    expect(await world.counts(lane)).toMatchObject({ pending: 3, failed: 0 });
  });

  test('of failed deliveries skips those that a retry has queued meanwhile, and counts the ones that still are', async () => {
    const { lane, deliveries } = await seedFailed(4);
    const replay = await addReplay(lane);
    const part = await storage.part(replay, replay.lastId);
    for (const { deliveryId } of deliveries.slice(1))
      await storage.retry(await addReplay(lane, { deliveryId, onlyFailed: false }));
    const [delivered] = await world.read(lane);
    await world.storage.settle([success(delivered ?? missing())]);
    await storage.feed(replay, replay.lastId, part);
    expect(await replayRow(replay)).toMatchObject({ queued: 1, skipped: 3, skippedPending: 2 });
    expect(await world.counts(lane)).toMatchObject({ pending: 3, failed: 0 });
  });

  test('from before the pending deliveries were counted gets no number of them', async () => {
    const { lane } = await world.seedLane(2);
    const replay = await addReplay(lane, { onlyFailed: false });
    await world.admin.run('update webhook_replay set skipped_pending = null where id = $1', [replay.id]);
    await feedAll(replay, 1);
    expect(await replayRow(replay)).toMatchObject({ queued: 0, skipped: 2, skippedPending: null });
  });

  test('skips deliveries that expire meanwhile', async () => {
    const { lane, deliveries } = await seedFailed(2);
    const replay = await addReplay(lane);
    const part = await storage.part(replay, replay.lastId);
    const before = onlyRow(await world.admin.run('select expired_before::text as id from webhook_retention'))['id'];
    // Within one millisecond, the ids need not follow the sequences.
    const [, kept] = deliveries.toSorted((x, y) => (BigInt(x.deliveryId) < BigInt(y.deliveryId) ? -1 : 1));
    await world.admin.run('update webhook_retention set expired_before = $1', [kept?.deliveryId]);
    try {
      const queued = await storage.feed(replay, replay.lastId, part);
      expect(queued === 'changed' ? queued : sequences(queued)).toEqual([Number(kept?.sequence)]);
    } finally {
      await world.admin.run('update webhook_retention set expired_before = $1', [before]);
    }
    expect(await replayRow(replay)).toMatchObject({ queued: 1, skipped: 1 });
    expect(await world.counts(lane)).toMatchObject({ pending: 1, failed: 1 });
  });

  test('matches types and sequences', async () => {
    const { lane, deliveries } = await seedFailed(10);
    await world.admin.run(`update webhook_delivery set event_type = 'order.cancelled' where id = $1`, [
      deliveries[4]?.deliveryId,
    ]);
    const range = { fromSequence: 3, untilSequence: 8 };
    const typed = await addReplay(lane, { ...range, types: ['order.placed'] });
    expect(sequences(await feedAll(typed))).toEqual([3, 4, 6, 7]);
    const rest = await addReplay(lane, range);
    expect(sequences(await feedAll(rest))).toEqual([5]);
  });

  test.each([true, false])('starts after its last delivery: only failed ones %j', async (onlyFailed) => {
    const { lane, deliveries } = await seedFailed(5);
    const lastId = deliveries[2]?.deliveryId ?? missing();
    const replay = await addReplay(lane, { onlyFailed, lastId });
    expect(sequences(await feedAll(replay, 1))).toEqual([4, 5]);
    expect(await replayRow(replay)).toMatchObject({ queued: 2, skipped: 0, ended: true });
  });

  test('reads its range in parts of 10 days, and of 256 deliveries', async () => {
    const { lane } = await seedFailed(300);
    const everything = await addReplay(lane, { onlyFailed: false });
    const days = Math.ceil((Date.now() - Date.UTC(2026, 0, 1)) / 86_400_000);
    let parts = 0;
    let matched = 0;
    for (let after = everything.lastId; ; parts += 1) {
      const part = await storage.part(everything, after);
      expect(part.deliveries.length).toBeLessThanOrEqual(256);
      matched += part.deliveries.length;
      after = part.lastId;
      if (part.isLast) break;
    }
    expect(matched).toBe(300);
    expect(parts).toBeGreaterThanOrEqual(Math.floor(days / 10));
    expect(parts).toBeLessThanOrEqual(Math.ceil(days / 10) + 3);
    await world.admin.run('update webhook_replay set cancelled_at = now() where id = $1', [everything.id]);
    expect(sequences(await feedAll(await addReplay(lane)))).toHaveLength(300);
  });
});

const bySequence = (a: { sequence: string }, b: { sequence: string }): number =>
  Number(a.sequence) - Number(b.sequence);

/** Changes something between reading a part of a replay and queueing it. */
async function feedAfter(
  change: (replay: OpenReplay) => Promise<unknown>,
): Promise<{ result: FeedResult; isUnchanged: boolean; isOpen: boolean }> {
  const { lane } = await seedFailed(2);
  const replay = await addReplay(lane);
  const part = await storage.part(replay, replay.lastId);
  await change(replay);
  const before = JSON.stringify(await world.snapshot());
  const result = await storage.feed(replay, replay.lastId, part);
  const isUnchanged = JSON.stringify(await world.snapshot()) === before;
  const isOpen = (await readOpen()).some(({ id }) => id === replay.id);
  return { result, isUnchanged, isOpen };
}

const cancel = ({ id }: OpenReplay) =>
  world.admin.run('update webhook_replay set cancelled_at = now() where id = $1', [id]);

const feedPart = async (replay: OpenReplay) =>
  storage.feed(replay, replay.lastId, await storage.part(replay, replay.lastId));

const nothing = { result: 'changed', isUnchanged: true, isOpen: false };

describe('nothing is queued', () => {
  test.each<[string, (replay: OpenReplay) => Promise<unknown>]>([
    ['once the replay is cancelled', cancel],
    ['while the subscription is paused', ({ lane }) => world.pause(lane.subscriptionId)],
    ['by a worker that has read an earlier state of the replay', feedPart],
  ])('%s', async (_, change) => {
    expect(await feedAfter(change)).toEqual(nothing);
  });

  test.each([
    ['frozen', '0, next_freeze()'],
    ['leaving', '1, next_freeze()'],
    ['at home elsewhere', '1, null'],
  ])('while the account is %s, by a replay or by a retry', async (_, home) => {
    const { lane, deliveries } = await world.seedLane(2);
    const retry = await addReplay(lane, { deliveryId: deliveries[0].deliveryId, onlyFailed: false });
    const before = await world.read(lane);
    const freeze = () => world.admin.run(`insert into account_home values ($1, ${home})`, [world.account.id]);
    try {
      expect(await feedAfter(freeze)).toEqual(nothing);
      expect(await storage.retry(retry)).toBe('changed');
    } finally {
      await world.admin.run('delete from account_home');
    }
    expect(await world.read(lane)).toEqual(before);
    expect((await readOpen()).map(({ id }) => id)).toContain(retry.id);
  });

  test('once the subscription is deleted, which ends the replay', async () => {
    expect(await feedAfter(({ lane }) => world.delete(lane.subscriptionId))).toEqual(nothing);
    const ended = await world.admin.run(
      `select r.ended_at = s.deleted_at as ended from webhook_replay r join webhook_subscription s on s.id = r.subscription_id
       where s.deleted_at is not null`,
    );
    expect(ended).toEqual([{ ended: true }]);
  });

  test('after a cancellation that the statement has waited for', async () => {
    const { lane } = await seedFailed(1);
    const replay = await addReplay(lane);
    const part = await storage.part(replay, replay.lastId);
    await world.admin.run('begin');
    await world.admin.run('update webhook_replay set cancelled_at = now() where id = $1', [replay.id]);
    const feeding = storage.feed(replay, replay.lastId, part);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    await world.admin.run('commit');
    expect(await feeding).toBe('changed');
    expect(await world.counts(lane)).toMatchObject({ pending: 0, failed: 1 });
  });

  test('by a worker that was declared dead', async () => {
    const { lane } = await seedFailed(2);
    const replay = await addReplay(lane);
    const part = await storage.part(replay, replay.lastId);
    const dead = await world.addWorker();
    await world.declareDead(dead);
    const before = await world.snapshot();
    await expect(feedReplay(world.store, dead, replay, replay.lastId, part)).rejects.toThrow(FencedOutError);
    await expect(retryPendingDelivery(world.store, dead, replay)).rejects.toThrow(FencedOutError);
    await expect(selectOpenReplays(world.store, dead, [shardOf(world.account.id)])).rejects.toThrow(FencedOutError);
    expect(await world.snapshot()).toEqual(before);
    expect(await replayRow(replay)).toMatchObject({ queued: 0, ended: false });
  });

  test('for the subscription of another account', async () => {
    const { lane } = await seedFailed(1);
    const replay = await addReplay(lane);
    const part = await storage.part(replay, replay.lastId);
    const { shard, ...row } = onlyRow(
      await world.admin.run(
        'update webhook_replay set account_id = account_id + 64 where id = $1 returning shard, id',
        [replay.id],
      ),
    );
    expect([shard, row]).toEqual([shardOf(world.account.id), { id: replay.id }]);
    expect(await storage.feed(replay, replay.lastId, part)).toBe('changed');
    expect((await readOpen()).filter(({ id }) => id === replay.id)).toEqual([]);
  });
});

describe('a retry', () => {
  test('queues a finished delivery before the backlog of its subscription', async () => {
    const { lane, deliveries } = await world.seedLane(3);
    await world.storage.settle([success(deliveries[2])]);
    await world.setDue(lane, 1, '2026-11-20T09:00:00.001Z');
    const retry = await addReplay(lane, { deliveryId: deliveries[2].deliveryId, onlyFailed: false });
    expect(await storage.retry(retry)).toBe('queued');
    expect((await world.read(lane)).map(({ sequence }) => sequence)).toEqual(['3', '1', '2']);
    expect(await replayRow(retry)).toMatchObject({ queued: 1, skipped: 0, ended: true });
    expect((await world.read(lane))[0]).toMatchObject({ attempts: 1, priorAttempts: 1, replayId: retry.id });
  });

  test('makes a pending delivery due, and keeps its attempts', async () => {
    const { lane, deliveries } = await world.seedLane(2);
    await world.storage.settle([failure(deliveries[1], 3_600_000)]);
    const retry = await addReplay(lane, { deliveryId: deliveries[1].deliveryId, onlyFailed: false });
    expect(await storage.retry(retry)).toBe('queued');
    expect(await world.read(lane)).toMatchObject([
      { sequence: '2', attempts: 1, priorAttempts: 0, replayId: null },
      { sequence: '1' },
    ]);
    expect(await storage.retry(retry)).toBe('changed');
  });

  test('waits while the delivery is being settled', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    const retry = await addReplay(lane, { deliveryId: deliveries[0].deliveryId, onlyFailed: false });
    await world.admin.run('begin');
    await world.admin.run('select from webhook_pending_delivery where subscription_id = $1 for update', [lane]);
    expect(await storage.retry(retry)).toBe('locked');
    await world.admin.run('commit');
    expect(await storage.retry(retry)).toBe('queued');
  });

  test('skips a delivery without a payload', async () => {
    const { lane, deliveries } = await seedFailed(1);
    await world.admin.run('delete from webhook_payload where event_id = $1', [deliveries[0]?.eventId]);
    const retry = await addReplay(lane, { deliveryId: idOf(deliveries[0]), onlyFailed: false });
    expect(await storage.retry(retry)).toBe('changed');
    expect(await replayRow(retry)).toMatchObject({ queued: 0, skipped: 1, ended: true });
    expect(await world.counts(lane)).toMatchObject({ pending: 0, failed: 1 });
  });

  test('lets the next probe of an open breaker start, and leaves a Retry-After', async () => {
    const { lane, deliveries } = await seedFailed(1);
    await world.admin.run(
      `insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes,
         breaker_open_until, hold_until)
       values ($1, 1, 12, 3, now() + interval '5 minutes', now() + interval '10 minutes')`,
      [lane],
    );
    const retry = await addReplay(lane, { deliveryId: idOf(deliveries[0]), onlyFailed: false });
    expect(await storage.retry(retry)).toBe('queued');
    expect(
      await world.admin.run(
        `select breaker_open_until <= now() + interval '1 millisecond' as "mayProbe", breaker_probes as probes, hold_until > now() as held
         from webhook_receiver_state where subscription_id = $1`,
        [lane],
      ),
    ).toEqual([{ mayProbe: true, probes: 3, held: true }]);
  });

  test('is one at a time, and so is the replay of a subscription', async () => {
    const { lane, deliveries } = await seedFailed(1);
    await addReplay(lane, { deliveryId: idOf(deliveries[0]) });
    await expect(addReplay(lane, { deliveryId: idOf(deliveries[0]) })).rejects.toThrow('webhook_replay_of_delivery');
    await addReplay(lane);
    await expect(addReplay(lane)).rejects.toThrow('webhook_replay_of_subscription');
  });
});

const idOf = (delivery: PendingDelivery | undefined): DeliveryId => delivery?.deliveryId ?? toRecordId('1');

test('two workers that feed one replay queue or skip each delivery once', async () => {
  const { lane, deliveries } = await seedFailed(200);
  const replay = await addReplay(lane);
  const other = createReplayStorage(
    createWorkerStore(await world.database.urlFor('webhook_worker')),
    () => world.workerId,
  );
  const part = await storage.part(replay, replay.lastId);
  await storage.retry(await addReplay(lane, { deliveryId: idOf(deliveries[9]), onlyFailed: false }));
  const results = await Promise.all([storage, other].map((each) => each.feed(replay, replay.lastId, part)));
  expect(results.filter((result) => result === 'changed')).toHaveLength(1);
  expect(await world.counts(lane)).toMatchObject({ pending: 200, failed: 0 });
  expect(await replayRow(replay)).toMatchObject({ queued: 199, skipped: 1, skippedPending: 1 });
});

/** The last of two failed deliveries is queued as after 1 attempt, and has 2. */
async function feedBesideLateSuccess(): Promise<{ lane: SubscriptionId; queued: readonly PendingDelivery[] }> {
  const { lane, deliveries } = await seedFailed(2);
  const replay = await addReplay(lane);
  const part = await storage.part(replay, replay.lastId);
  const [fed, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const feeding = world.superuser.transaction(async (transaction) => {
    const result = await feedReplay(transaction, world.workerId, replay, replay.lastId, part);
    fed.resolve();
    await mayCommit.promise;
    return result;
  });
  await fed.promise;
  const [, last] = deliveries;
  if (last === undefined) throw new Error('There is no second delivery.');
  const late = world.storage.settle([success(last, { startedAt: new Date('2026-11-20T10:00:01Z') })]);
  await untilBlocked(world.admin, 1);
  mayCommit.resolve();
  const queued = await feeding;
  expect([...(await late).values()]).toEqual(['late']);
  expect(world.events.splice(0)).toEqual([{ kind: 'late-success-recorded', deliveries: [last.deliveryId] }]);
  if (queued === 'changed') throw new Error('The replay has changed.');
  expect(await world.counts(lane)).toEqual({ pending: 2, attempts: 3, failed: 0 });
  return { lane, queued };
}

const settle = async (...settlements: Settlement[]) => [...(await world.storage.settle(settlements)).values()];

describe('a success from before a replay that is recorded while the replay queues its delivery', () => {
  test('leaves room for the success of the replay', async () => {
    const { lane, queued } = await feedBesideLateSuccess();
    expect(await settle(...queued.map((delivery) => success(delivery)))).toEqual(['settled', 'late']);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 5, failed: 0 });
    world.events.splice(0);
  });

  test('leaves room for failures of the replay, whose retries have the schedule of a new delivery', async () => {
    const { lane, queued } = await feedBesideLateSuccess();
    const failures = queued.map((delivery) => failure(delivery, 0, { pause: 'FAILING' }));
    expect(await settle(...failures)).toEqual(['settled', 'stale']);
    await world.resume(lane);
    const read = (await world.read(lane)).toSorted(bySequence);
    expect(read).toMatchObject([
      { attempts: 2, priorAttempts: 1 },
      { attempts: 2, priorAttempts: 2 },
    ]);
    expect(await settle(...read.map((delivery) => success(delivery)))).toEqual(['settled', 'settled']);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 6, failed: 0 });
  });
});

describe('with 10,000 failures', () => {
  test('a part and a batch of 8 read in proportion, whatever the plan', async () => {
    const { lane } = await seedFailed(2_000);
    for (let copies = 0; copies < 4; copies += 1) await seedFailed(2_000);
    await world.admin.run('analyze');
    const replay = await addReplay(lane);
    const middle = await storage.part(replay, idAt<'WebhookDelivery'>(new Date()));
    expect(middle.deliveries).toEqual([]);
    const part = await storage.part(replay, replay.lastId);
    const reading = await explain(world.admin, (database) => selectPart(database, replay, replay.lastId));
    expect(reading.rowsMax).toBe(256);
    const chosen = {
      deliveries: part.deliveries.slice(0, 8),
      lastId: part.deliveries[7]?.id ?? part.lastId,
      isLast: false,
    };
    for (const plan of ['generic', 'custom'] as const) {
      const feeding = await explain(
        world.admin,
        (database) => feedReplay(database, world.workerId, replay, replay.lastId, chosen),
        plan,
      );
      expect(feeding.nodeTypes).toContain('LockRows');
      expect(feeding.rowsMax).toBeLessThanOrEqual(64);
      expect(feeding.removedMax).toBeLessThanOrEqual(64);
      // About 30 for each delivery: five lookups, a row in two indexes, and a failure.
      expect(feeding.buffers).toBeLessThanOrEqual(260);
    }
  }, 120_000);
});

describe('with 20,000 retries of a paused subscription', () => {
  test('the statement that reads what is open reads none of them, and other retries come before replays', async () => {
    const { lane: paused } = await seedFailed(1);
    const { lane, deliveries } = await seedFailed(2);
    const replay = await addReplay(lane);
    const retry = await addReplay(lane, { deliveryId: deliveries[1]?.deliveryId ?? missing() });
    await world.admin.run(
      `insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id,
         last_id)
       select $1, 'customer', $2, number, false, 1, number, number + 1, number - 1 from generate_series(1, 20000) number`,
      [world.account.id, paused],
    );
    await world.pause(paused);
    await world.admin.run('analyze webhook_replay');
    for (const plan of ['generic', 'custom'] as const) {
      const reading = await explain(
        world.admin,
        (database) => selectOpenReplays(database, world.workerId, [shardOf(world.account.id)]),
        plan,
      );
      expect(reading.rowsMax).toBeLessThanOrEqual(100);
      expect(reading.buffers).toBeLessThanOrEqual(500);
    }
    const open = (await readOpen()).filter(({ lane: { subscriptionId } }) => subscriptionId === lane);
    expect(open.map(({ id }) => id)).toEqual([retry.id, replay.id]);
    expect((await readOpen()).filter(({ lane: { subscriptionId } }) => subscriptionId === paused)).toEqual([]);
  });
});
