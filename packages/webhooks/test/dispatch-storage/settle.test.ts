import { toRecordId } from '@deedwire/core';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { cleanLaneState } from '../../src/dispatch/lane-state.ts';
import type { Settlement } from '../../src/dispatch/storage.ts';
import { insertExchanges } from '../../src/exchanges/sql/insert-exchanges.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { failure, finalFailure, StorageWorld, success } from './support.ts';

const world = await forFile(StorageWorld.create());

const settle = async (...batch: Settlement[]): Promise<string[]> => {
  const results = await world.storage.settle(batch);
  return batch.map((settlement) => results.get(settlement) ?? 'missing');
};

const attemptsOf = (delivery: PendingDelivery): Promise<Record<string, unknown>[]> =>
  world.admin.run(
    `select number, started_at, duration_ms, response_status, error, detail, interface
     from webhook_attempt where delivery_id = $1 order by number`,
    [delivery.deliveryId],
  );

const recorded = {
  number: 1,
  started_at: new Date('2026-11-20T10:00:00.123Z'),
  duration_ms: 20,
  response_status: 200,
  error: null,
  detail: null,
  interface: 'customer',
};

describe('a result', () => {
  test('of a success removes the delivery from the pending ones', async () => {
    const { lane, deliveries } = await world.seedLane(2);
    expect(await settle(success(deliveries[1]))).toEqual(['settled']);
    expect(await attemptsOf(deliveries[1])).toEqual([recorded]);
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 1, failed: 0 });
  });

  test('of a failure leaves a test event marked', async () => {
    const { lane } = await world.seedLane(1);
    await world.admin.run(`update webhook_pending_delivery set is_test = true where subscription_id = ${lane}`);
    const [delivery] = await world.read(lane);
    if (delivery === undefined) throw new Error('There is no delivery.');
    expect(await settle(failure(delivery, 60_000))).toEqual(['settled']);
    expect(
      await world.admin.run(`select is_test, attempts from webhook_pending_delivery where subscription_id = ${lane}`),
    ).toEqual([{ is_test: true, attempts: 1 }]);
  });

  test('of a failure reschedules the delivery by the database clock, and resets its claims', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await world.storage.countClaims(deliveries);
    const [{ now: before } = { now: null }] = await world.admin.run('select now()');
    const attempt = { ...timeout, detail: 'RETRY_AFTER_IGNORED' } as const;
    expect(await settle(failure(deliveries[0], 60_000, { attempt }))).toEqual(['settled']);
    const [{ now: after } = { now: null }] = await world.admin.run('select now()');
    expect(await attemptsOf(deliveries[0])).toEqual([
      { ...recorded, duration_ms: 5_000, response_status: null, error: 'TIMEOUT', detail: 'RETRY_AFTER_IGNORED' },
    ]);
    const [{ due_at: dueAt } = { due_at: null }] = await world.admin.run(
      `select due_at from webhook_pending_delivery where subscription_id = ${lane}`,
    );
    expect(Number(dueAt)).toBeGreaterThanOrEqual(Number(before) + 60_000 - 1);
    expect(Number(dueAt)).toBeLessThanOrEqual(Number(after) + 60_000 + 1);
    expect(await world.read(lane)).toEqual([]);
    await world.admin.run(`update webhook_pending_delivery set due_at = now() where subscription_id = ${lane}`);
    const [retried] = await world.read(lane);
    const { dueAtMs: _, ...rest } = retried ?? {};
    const { dueAtMs: __, ...original } = deliveries[0];
    expect(rest).toEqual({ ...original, attempts: 1, claims: [] });
  });

  test('of the last failure moves the delivery to the failed ones', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    expect(await settle(finalFailure(deliveries[0]))).toEqual(['settled']);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 1, failed: 1 });
  });

  test('of a delivery that exceeded its claim limit moves it to the failed ones, without an attempt', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    expect(await settle(finalFailure(deliveries[0], { attempt: null, urlNumber: null }))).toEqual(['settled']);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 0, failed: 1 });
  });

  test('of a delivery that was not sent for want of a proxy reschedules it, without an attempt', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await world.storage.countClaims(deliveries);
    const postponed = failure(deliveries[0], 60_000, { attempt: null, urlNumber: null });
    expect(await settle(postponed)).toEqual(['settled']);
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 0, failed: 0 });
    expect(await world.read(lane)).toEqual([]);
    await world.admin.run(`update webhook_pending_delivery set due_at = now() where subscription_id = ${lane}`);
    expect(await world.read(lane)).toMatchObject([{ deliveryId: deliveries[0].deliveryId, attempts: 0, claims: [] }]);
    expect(await settle(success(deliveries[0]))).toEqual(['settled']);
    expect(await attemptsOf(deliveries[0])).toEqual([recorded]);
  });

  test('in a batch is recorded like a single one', async () => {
    const first = await world.seedLane(3);
    const second = await world.seedLane(3);
    const [a, b, c] = first.deliveries;
    const [d, e, f] = second.deliveries;
    const batch = [finalFailure(f), success(a), failure(e, 5_000), failure(b, 5_000), success(d), finalFailure(c)];
    expect(await settle(...batch)).toEqual(batch.map(() => 'settled'));
    expect(await world.counts(first.lane)).toEqual({ pending: 1, attempts: 3, failed: 1 });
    expect(await world.counts(second.lane)).toEqual({ pending: 1, attempts: 3, failed: 1 });
  });

  test('of a success is recorded in the same way alone, with successes, and with another result', async () => {
    const first = await world.seedLane(3);
    const second = await world.seedLane(3);
    const [a, b, c] = first.deliveries;
    const [d, e] = second.deliveries;
    for (const batch of [[success(a)], [success(d), success(b)], [success(c), failure(e, 5_000)]])
      expect(await settle(...batch)).toEqual(batch.map(() => 'settled'));
    for (const delivery of [a, b, c, d]) expect(await attemptsOf(delivery)).toEqual([recorded]);
    expect(await world.counts(first.lane)).toEqual({ pending: 0, attempts: 3, failed: 0 });
    expect(await world.counts(second.lane)).toEqual({ pending: 2, attempts: 2, failed: 0 });
  });

  test('of a success that is recorded again does not keep others from being recorded', async () => {
    const { lane, deliveries } = await world.seedLane(3);
    const [a, b, c] = deliveries;
    await settle(success(a));
    expect(await settle(success(b), success(a), success(c))).toEqual(['settled', 'stale', 'settled']);
    for (const delivery of deliveries) expect(await attemptsOf(delivery)).toEqual([recorded]);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 3, failed: 0 });
  });

  test('that is recorded again changes nothing', async () => {
    const { deliveries } = await world.seedLane(3);
    const batch = [success(deliveries[0]), failure(deliveries[1], 5_000), finalFailure(deliveries[2])];
    await settle(...batch);
    const before = await world.snapshot();
    expect(await settle(...batch)).toEqual(['stale', 'stale', 'stale']);
    expect(await world.snapshot()).toEqual(before);
    expect(world.events).toEqual([]);
  });

  test('of another attempt than the next one is not recorded', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await settle(failure(deliveries[0], 0));
    const [retried] = await world.read(lane);
    expect(retried?.attempts).toBe(1);
    const before = await world.snapshot();
    expect(await settle(failure({ ...deliveries[0], attempts: 5 }, 0))).toEqual(['stale']);
    expect(await world.snapshot()).toEqual(before);
  });
});

test.each([
  ['success', { pending: 0, attempts: 1, failed: 0 }],
  ['failure', { pending: 1, attempts: 1, failed: 0 }],
  ['final failure', { pending: 0, attempts: 1, failed: 1 }],
])('a %s is recorded when a transaction that only postpones the delivery has ended', async (kind, counts) => {
  const { lane, deliveries } = await world.seedLane(1);
  const [delivery] = deliveries;
  const result =
    kind === 'success' ? success(delivery) : kind === 'failure' ? failure(delivery, 60_000) : finalFailure(delivery);
  await world.admin.run('begin');
  await world.admin.run(
    `update webhook_pending_delivery set due_at = now() + interval '7 s' where subscription_id = ${lane}`,
  );
  expect(await settle(result)).toEqual(['locked']);
  await world.admin.run('commit');
  expect(await settle(result)).toEqual(['settled']);
  expect(await world.counts(lane)).toEqual(counts);
});

const timeout = {
  number: 1,
  startedAt: recorded.started_at,
  durationMs: 5_000,
  responseStatus: null,
  error: 'TIMEOUT',
  detail: null,
} as const;

const opened = {
  consecutiveFailures: 10,
  breakerOpenUntilMs: Date.UTC(2026, 10, 20, 10, 0, 5, 7),
  breakerProbes: 2,
  holdUntilMs: Date.UTC(2026, 10, 20, 11),
  failingSinceMs: Date.UTC(2026, 10, 19),
  lastFailureMs: Date.UTC(2026, 10, 20),
  lastFailedDeliveryId: toRecordId<'WebhookDelivery'>('7'),
};

describe('the state of a receiver', () => {
  test('is read with the target', async () => {
    const { lane, deliveries } = await world.seedLane(2);
    await settle(failure(deliveries[0], 0, { laneState: opened }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(opened);
    await settle(success(deliveries[1], {}, { laneState: cleanLaneState }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
  });

  test('does not change with the result of an earlier URL, nor with one that was not recorded', async () => {
    const { lane, deliveries } = await world.seedLane(4);
    await settle(failure(deliveries[0], 0, { laneState: opened }));
    await settle(failure(deliveries[0], 0, { laneState: cleanLaneState }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(opened);
    await world.changeUrl(lane);
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
    await settle(failure(deliveries[1], 0, { laneState: opened }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
    await settle(failure(deliveries[2], 0, { laneState: opened, urlNumber: 2 }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(opened);
    await settle(failure(deliveries[3], 0, { laneState: cleanLaneState }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(opened);
  });

  test('is clean after the subscription was resumed', async () => {
    const { lane, deliveries } = await world.seedLane(2);
    await settle(failure(deliveries[0], 0, { laneState: opened }));
    await world.pause(lane);
    await world.resume(lane);
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
    // A request that started before the pause.
    await settle(failure(deliveries[1], 0, { laneState: opened }));
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
  });

  test('is recorded for many lanes by one call', async () => {
    const lanes = await Promise.all(Array.from({ length: 5 }, () => world.seedLane(1)));
    await settle(
      ...lanes.map(({ deliveries }, index) =>
        failure(deliveries[0], 0, { laneState: { ...cleanLaneState, consecutiveFailures: index } }),
      ),
    );
    const targets = await world.storage.targets(lanes.map(({ lane }) => lane));
    expect(lanes.map(({ lane }) => targets.get(lane)?.state.consecutiveFailures)).toEqual([0, 1, 2, 3, 4]);
  });

  test('is not recorded for a deleted subscription', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await world.delete(lane);
    expect(await settle(failure(deliveries[0], 0, { laneState: opened }))).toEqual(['settled']);
    const states = await world.admin.run(`select from webhook_receiver_state where subscription_id = ${lane}`);
    expect(states).toEqual([]);
  });
});

const pausedReason = async (lane: string): Promise<unknown> => {
  const [row] = await world.admin.run('select paused_reason from webhook_subscription where id = $1', [lane]);
  return row?.['paused_reason'];
};

describe('a pause', () => {
  test.each(['GONE', 'FAILING'] as const)('%s is recorded with its result, and clears the state', async (pause) => {
    const { lane, deliveries } = await world.seedLane(3);
    await settle(failure(deliveries[0], 0, { laneState: opened }));
    await settle(failure(deliveries[1], 0, { pause, laneState: opened }), success(deliveries[2]));
    expect(await pausedReason(lane)).toBe(pause);
    expect((await world.storage.targets([lane])).size).toBe(0);
    // The interfaces say what led to the pause.
    expect(
      await world.admin.run(
        `select consecutive_failures, last_failed_delivery_id from webhook_receiver_state where subscription_id = ${lane}`,
      ),
    ).toEqual([{ consecutive_failures: 0, last_failed_delivery_id: deliveries[1]?.deliveryId }]);
    await world.resume(lane);
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
  });

  test('stays without a state when requests end after it', async () => {
    const { lane, deliveries } = await world.seedLane(2);
    await settle(failure(deliveries[0], 0, { pause: 'GONE' }));
    expect(await settle(failure(deliveries[1], 0, { laneState: opened }))).toEqual(['settled']);
    await world.resume(lane);
    expect((await world.storage.targets([lane])).get(lane)?.state).toEqual(cleanLaneState);
  });

  test('does not result from an attempt to an earlier URL, nor from a result that was not recorded', async () => {
    const { lane, deliveries } = await world.seedLane(2);
    await settle(failure(deliveries[0], 0, { pause: 'GONE' }));
    await world.resume(lane);
    await settle(failure(deliveries[0], 0, { pause: 'GONE' }));
    expect(await pausedReason(lane)).toBeNull();
    await world.changeUrl(lane);
    expect(await settle(failure(deliveries[1], 0, { pause: 'GONE' }))).toEqual(['settled']);
    expect(await pausedReason(lane)).toBeNull();
  });

  test.each(['OWNER', 'OPERATOR'] as const)('replaces %s, and remembers it', async (reason) => {
    const { lane, deliveries } = await world.seedLane(2);
    await world.pause(lane, reason);
    expect(await settle(failure(deliveries[0], 0, { pause: 'GONE' }))).toEqual(['settled']);
    expect(await pausedReason(lane)).toBe('GONE');
    const [row] = await world.admin.run('select owner_paused_at from webhook_subscription where id = $1', [lane]);
    expect(row?.['owner_paused_at']).toBeInstanceOf(Date);
    expect(await settle(failure(deliveries[1], 0, { pause: 'FAILING' }))).toEqual(['settled']);
    expect(await pausedReason(lane)).toBe('GONE');
  });

  test('is not recorded for a deleted subscription', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await world.delete(lane);
    expect(await settle(failure(deliveries[0], 0, { pause: 'GONE' }))).toEqual(['settled']);
    expect(await pausedReason(lane)).toBeNull();
  });
});

describe('a late success', () => {
  const late = success;

  test('of a rescheduled delivery completes it', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await settle(failure(deliveries[0], 0));
    expect(await settle(late(deliveries[0]))).toEqual(['late']);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 2, failed: 0 });
    expect(await attemptsOf(deliveries[0])).toMatchObject([
      { number: 1, response_status: 500 },
      { number: 2, response_status: 200 },
    ]);
    expect(world.events.splice(0)).toEqual([{ kind: 'late-success-recorded', deliveries: [deliveries[0].deliveryId] }]);
  });

  test('of a delivery that has failed meanwhile completes it', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await settle(finalFailure(deliveries[0]));
    await settle(late(deliveries[0]));
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 2, failed: 0 });
    world.events.splice(0);
  });

  test('of a delivery that another worker has delivered adds an attempt, once', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    const other = new Date('2026-11-20T10:00:01Z');
    await settle(success(deliveries[0], { startedAt: other }));
    expect(await settle(late(deliveries[0]))).toEqual(['late']);
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 2, failed: 0 });
    const before = await world.snapshot();
    expect(await settle(late(deliveries[0]))).toEqual(['stale']);
    expect(await world.snapshot()).toEqual(before);
    world.events.splice(0);
  });

  test('does not complete a replay of its delivery', async () => {
    const { lane, deliveries } = await world.seedLane(1);
    await settle(success(deliveries[0]));
    await world.replay(deliveries[0], 1);
    const before = await world.snapshot();
    expect(await settle(success(deliveries[0]))).toEqual(['stale']);
    expect(await world.snapshot()).toEqual(before);
    expect(await world.counts(lane)).toEqual({ pending: 1, attempts: 1, failed: 0 });
  });

  test('of a delivery that retention has dropped records nothing', async () => {
    const { deliveries } = await world.seedLane(2);
    await world.admin.run('delete from webhook_pending_delivery where delivery_id = $1', [deliveries[0].deliveryId]);
    await world.admin.run('delete from webhook_delivery where id = $1', [deliveries[0].deliveryId]);
    expect(await settle(late(deliveries[0]), success(deliveries[1]))).toEqual(['stale', 'settled']);
    expect(await attemptsOf(deliveries[0])).toEqual([]);
    expect(world.events).toEqual([]);
  });

  test('of several deliveries is recorded for each, in any order', async () => {
    const { lane, deliveries } = await world.seedLane(3);
    await settle(...deliveries.map((delivery) => failure(delivery, 0)));
    await settle(...deliveries.toReversed().map((delivery) => late(delivery)));
    expect(await world.counts(lane)).toEqual({ pending: 0, attempts: 6, failed: 0 });
    world.events.splice(0);
  });
});

test('a late failure changes nothing', async () => {
  const { deliveries } = await world.seedLane(1);
  await settle(success(deliveries[0], { startedAt: new Date('2026-11-20T10:00:01Z') }));
  const before = await world.snapshot();
  expect(await settle(finalFailure(deliveries[0], { laneState: opened, pause: 'GONE' }))).toEqual(['stale']);
  expect(await world.snapshot()).toEqual(before);
});

test('the details of an attempt are not stored once the person of its delivery is erased', async () => {
  const { deliveries } = await world.seedLane(2);
  const [erased] = deliveries;
  await world.admin.run('update webhook_delivery set erased_at = now() where id = $1', [erased.deliveryId]);
  const details = {
    requestHeaders: [],
    remoteAddress: null,
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    responseHeaders: [],
    responseBody: Buffer.from('Ada'),
    responseBytes: 3,
  };
  const attempt = { number: 1, startedAt: new Date(), urlNumber: 1, replayId: null, details };
  await insertExchanges(
    world.store,
    deliveries.map(({ deliveryId, subscriptionId }) => ({ deliveryId, subscriptionId, ...attempt })),
  );
  const stored = await world.admin.run('select delivery_id::text as id from webhook_exchange where body is not null');
  expect(stored).toEqual([{ id: deliveries[1].deliveryId }]);
});
