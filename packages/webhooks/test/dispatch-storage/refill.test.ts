import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { laneStart, selectPendingDeliveries } from '../../src/dispatch/sql/pending-deliveries.ts';
import { explain } from './explain.ts';
import { hold, StorageWorld } from './support.ts';

const world = await forFile(StorageWorld.create());

const all = { fromDueAtMs: -Infinity, limit: 1_000, bodyBytesMax: 1_000_000, exclude: [] };

const sequencesOf = (deliveries: readonly { sequence: string }[]): number[] =>
  deliveries.map(({ sequence }) => Number(sequence));

describe('a refill', () => {
  test('returns everything that sending needs', async () => {
    const { lane } = await world.seedLane(1);
    const [row] = await world.admin.run(
      `select delivery_id::text as "deliveryId", event_id::text as "eventId", occurred_at as "occurredAt",
         due_at as "dueAt" from webhook_pending_delivery where subscription_id = $1`,
      [lane],
    );
    expect(await world.storage.refill(lane, all)).toEqual({
      deliveries: [
        {
          deliveryId: row?.['deliveryId'],
          subscriptionId: lane,
          accountId: world.account.id,
          eventId: row?.['eventId'],
          eventType: 'order.placed',
          eventVersion: '2026-11-01',
          occurredAt: row?.['occurredAt'],
          requestId: 'request',
          sequence: '1',
          isTest: false,
          attempts: 0,
          priorAttempts: 0,
          replayId: null,
          claims: [],
          dueAtMs: Number(row?.['dueAt']),
          body: Buffer.from('{"sequence":1}'),
          bodyBytes: 14,
        },
      ],
      nextDueAtMs: null,
    });
  });

  test('orders deliveries by due time, then by sequence, and skips deliveries that are not due', async () => {
    const { lane } = await world.seedLane(5);
    await world.seedLane(1);
    await world.setDue(lane, 2, '2026-11-20T09:00:00.001Z');
    await world.setDue(lane, 4, '2126-11-20T09:00:00.000Z', 1);
    await world.setDue(lane, 5, '2026-11-20T09:00:00.001Z');
    const { deliveries, nextDueAtMs } = await world.storage.refill(lane, all);
    expect(sequencesOf(deliveries)).toEqual([2, 5, 1, 3]);
    expect(deliveries[0]?.dueAtMs).toBe(Date.UTC(2026, 10, 20, 9, 0, 0, 1));
    expect(nextDueAtMs).toBe(Date.UTC(2126, 10, 20, 9));
  });

  test('returns unsent deliveries that were written before the clock was set back, at once, and retries when they are due', async () => {
    const { lane, deliveries } = await world.seedLane(3);
    const [, second, third] = deliveries;
    const ahead = `update webhook_pending_delivery set due_at = now() + interval '1 hour', attempts = $2, prior_attempts = $3
      where delivery_id = $1`;
    await world.admin.run(ahead, [second.deliveryId, 0, 0]);
    await world.admin.run(ahead, [third.deliveryId, 1, 0]);
    const [{ nowMs } = { nowMs: 0 }] = await world.admin.run('select extract(epoch from now()) * 1000 as "nowMs"');
    const refill = await world.storage.refill(lane, all);
    expect(sequencesOf(refill.deliveries)).toEqual([1, 2]);
    for (const { dueAtMs } of refill.deliveries) expect(dueAtMs).toBeLessThan(Number(nowMs) + 60_000);
    expect(refill.nextDueAtMs).toBeGreaterThan(Number(nowMs) + 3_500_000);
    // Sent again by a replay, and not sent since.
    await world.admin.run(ahead, [third.deliveryId, 15, 15]);
    expect(sequencesOf((await world.storage.refill(lane, all)).deliveries)).toEqual([1, 2, 3]);
  });

  test('skips deliveries that are due before the given time', async () => {
    const { lane } = await world.seedLane(4);
    for (const sequence of [1, 2, 3, 4]) {
      await world.setDue(lane, sequence, new Date(Date.UTC(2026, 10, 1) + sequence).toISOString());
    }
    const { deliveries } = await world.storage.refill(lane, { ...all, fromDueAtMs: Date.UTC(2026, 10, 1) + 3 });
    expect(sequencesOf(deliveries)).toEqual([3, 4]);
  });

  test('costs the same while an old snapshot keeps delivered rows', async () => {
    const lane = await world.addLane();
    await world.addDeliveries(lane, 20_000);
    await world.admin.run(
      `update webhook_pending_delivery set due_at = timestamptz '2026-11-01' + sequence * interval '1 ms'
       where subscription_id = $1`,
      [lane],
    );
    const buffersFrom = async (dueAtMs: number): Promise<number> => {
      const plan = await explain(world.admin, (database) =>
        selectPendingDeliveries(database, world.workerId, lane, { ...laneStart, dueAtMs }, [], 257),
      );
      return plan.buffers;
    };
    const startMs = Number(new Date('2026-11-01'));
    const snapshot = await connect(world.database.databaseUrl);
    try {
      await snapshot.run('begin isolation level repeatable read');
      await snapshot.run('select count(*) from webhook_pending_delivery');
      const before = await buffersFrom(-Infinity);
      await world.admin.run('delete from webhook_pending_delivery where subscription_id = $1 and sequence <= 19000', [
        lane,
      ]);
      expect(await buffersFrom(startMs + 19_000)).toBeLessThanOrEqual(2 * before);
      expect(await buffersFrom(-Infinity)).toBeGreaterThan(4 * before);
    } finally {
      await snapshot.close();
    }
  });

  test('reads at most the limit, and returns when the next delivery is due', async () => {
    const { lane } = await world.seedLane(5);
    await world.setDue(lane, 4, '2126-11-20T09:00:00.000Z', 1);
    await world.setDue(lane, 5, '2126-11-21T09:00:00.000Z', 1);
    const { deliveries, nextDueAtMs } = await world.storage.refill(lane, { ...all, limit: 3 });
    expect(sequencesOf(deliveries)).toEqual([1, 2, 3]);
    expect(nextDueAtMs).toBe(Date.UTC(2126, 10, 20, 9));
  });

  test('ends before the bodies exceed the bound, but returns the first delivery whatever its size', async () => {
    const { lane, deliveries: seeded } = await world.seedLane(3);
    const two = await world.storage.refill(lane, { ...all, bodyBytesMax: 28 });
    expect(sequencesOf(two.deliveries)).toEqual([1, 2]);
    expect(two.nextDueAtMs).toBe(seeded[2].dueAtMs);
    const one = await world.storage.refill(lane, { ...all, bodyBytesMax: 1 });
    expect(sequencesOf(one.deliveries)).toEqual([1]);
  });

  test('skips excluded deliveries', async () => {
    const { lane, deliveries: seeded } = await world.seedLane(4);
    const exclude = [seeded[0].deliveryId, seeded[2].deliveryId];
    const { deliveries } = await world.storage.refill(lane, { ...all, limit: 1, exclude });
    expect(sequencesOf(deliveries)).toEqual([2]);
    const nothing = await world.storage.refill(lane, { ...all, exclude: seeded.map(({ deliveryId }) => deliveryId) });
    expect(nothing).toEqual({ deliveries: [], nextDueAtMs: null });
  });

  test('skips deliveries without a payload, and reports them', async () => {
    const { lane, deliveries: seeded } = await world.seedLane(9);
    await world.admin.run('delete from webhook_payload where event_id = any($1)', [
      seeded.slice(0, 7).map(({ eventId }) => eventId),
    ]);
    const { deliveries, nextDueAtMs } = await world.storage.refill(lane, { ...all, limit: 2 });
    expect(sequencesOf(deliveries)).toEqual([8]);
    expect(nextDueAtMs).toBe(seeded[8]?.dueAtMs);
    expect(world.events.splice(0)).toEqual(
      seeded.slice(0, 7).map(({ deliveryId }) => ({ kind: 'payload-missing', alarm: true, lane, deliveryId })),
    );
    await world.admin.run('delete from webhook_payload where event_id = any($1)', [
      seeded.map(({ eventId }) => eventId),
    ]);
    expect(await world.storage.refill(lane, { ...all, limit: 2 })).toEqual({ deliveries: [], nextDueAtMs: null });
    world.events.splice(0);
  });

  test('skips deliveries that are being erased, and reports none', async () => {
    const { lane, deliveries: seeded } = await world.seedLane(2);
    const ids = seeded.slice(0, 1).map(({ eventId }) => eventId);
    await world.admin.run('delete from webhook_payload where event_id = any($1)', [ids]);
    await world.admin.run('update webhook_pending_delivery set body_bytes = 0 where event_id = any($1)', [ids]);
    const { deliveries } = await world.storage.refill(lane, all);
    expect(sequencesOf(deliveries)).toEqual([2]);
    expect(world.events.splice(0)).toEqual([]);
  });

  test('skips expired deliveries', async () => {
    const { lane, deliveries: seeded } = await world.seedLane(3);
    // Within one millisecond, the ids need not follow the sequences.
    const [expired, oldestKept] = seeded.toSorted((x, y) => (BigInt(x.deliveryId) < BigInt(y.deliveryId) ? -1 : 1));
    await world.admin.run('update webhook_retention set expired_before = $1', [oldestKept?.deliveryId]);
    const { deliveries } = await world.storage.refill(lane, all);
    await world.admin.run('update webhook_retention set expired_before = 0');
    expect(sequencesOf(deliveries)).toEqual([1, 2, 3].filter((sequence) => sequence !== Number(expired?.sequence)));
    expect(world.events).toEqual([]);
  });
});

describe('targets', () => {
  test('are read with the number of the URL, the secret and a clean state', async () => {
    const lane = await world.addLane();
    await world.changeUrl(lane);
    const [row] = await world.admin.run('select callback_url from webhook_subscription where id = $1', [lane]);
    expect((await world.storage.targets([lane])).get(lane)).toEqual({
      subscriptionId: lane,
      accountId: world.account.id,
      callbackUrl: row?.['callback_url'],
      urlNumber: 2,
      secret: `webhook-subscription:${lane} not a ciphertext`,
      nextSecret: null,
      rotationEndsAtMs: null,
      timeoutMs: 5_000,
      requestHeader: null,
      isHeaderDropped: false,
      state: {
        consecutiveFailures: 0,
        breakerOpenUntilMs: null,
        breakerProbes: 0,
        holdUntilMs: null,
        failingSinceMs: null,
        lastFailureMs: null,
        lastFailedDeliveryId: null,
      },
      marks: { hastenedAtMs: -Infinity, sendPendingAtMs: -Infinity },
    });
  });

  test('have both secrets until a rotation ends, and then the new one, whether it was completed or not', async () => {
    const lane = await world.addLane();
    const rotate = (ends: string) =>
      world.admin.run(
        `update webhook_subscription
         set next_secret_ciphertext = 'new', rotation_started_at = now(), rotation_ends_at = now() + $2::interval
         where id = $1`,
        [lane, ends],
      );
    const read = async () => {
      const target = (await world.storage.targets([lane])).get(lane);
      return { secret: target?.secret, nextSecret: target?.nextSecret, isRotated: target?.rotationEndsAtMs !== null };
    };
    await rotate('1 day');
    const secretOf = (ciphertext: string) => `webhook-subscription:${lane} ${ciphertext}`;
    const both = { secret: secretOf('not a ciphertext'), nextSecret: secretOf('new') };
    expect(await read()).toEqual({ ...both, isRotated: true });
    await rotate('-1 ms');
    expect(await read()).toEqual({ secret: secretOf('new'), nextSecret: null, isRotated: false });
    await rotate('1 day');
    await world.admin.run(`update webhook_subscription set next_secret_ciphertext = 'unreadable' where id = $1`, [
      lane,
    ]);
    expect(await read()).toMatchObject({ secret: null });
  });

  test('have the request header for the origin of the URL only, and none for another one', async () => {
    const lane = await world.addLane();
    const read = async () => {
      const { secret, requestHeader, isHeaderDropped } = (await world.storage.targets([lane])).get(lane) ?? {};
      return { isSent: secret !== null, requestHeader, isHeaderDropped };
    };
    const write = async (url: string, name: string | null, ciphertext: string | null, origin: string | null) => {
      await world.admin.run(
        `update webhook_subscription set callback_url = $2, request_header_name = $3, request_header_ciphertext = $4,
           request_header_origin = $5
         where id = $1`,
        [lane, url, name, ciphertext, origin],
      );
      return read();
    };
    const none = { isSent: true, requestHeader: null, isHeaderDropped: false };
    const dropped = { ...none, isHeaderDropped: true };
    const value = `webhook-subscription:${lane}:request-header:X-Key:https://a.test c`;
    expect(await write('https://A.test/1', 'X-Key', 'c', 'https://a.test')).toEqual({
      ...none,
      requestHeader: { name: 'X-Key', value },
    });
    for (const url of ['https://a.test:8443/1', 'http://a.test/1', 'https://b.test/1', 'no url', ''])
      expect({ url, ...(await write(url, 'X-Key', 'c', 'https://a.test')) }).toEqual({ url, ...dropped });
    expect(await write('https://a.test/1', 'X-Key', null, null)).toEqual(dropped);
    expect(await write('https://a.test/1', 'X-Key', 'unreadable', 'https://a.test')).toEqual({
      ...none,
      isSent: false,
    });
    expect(await write('https://a.test/1', null, null, null)).toEqual(none);
  });

  test('of paused and deleted subscriptions are missing, and an unreadable secret is null', async () => {
    const [active, paused, deleted, unreadable] = [
      await world.addLane(),
      await world.addLane(),
      await world.addLane(),
      await world.addLane(),
    ];
    await world.pause(paused);
    await world.delete(deleted);
    await world.admin.run(`update webhook_subscription set secret_ciphertext = 'unreadable' where id = $1`, [
      unreadable,
    ]);
    const targets = await world.storage.targets([active, paused, deleted, unreadable]);
    expect([...targets.keys()].toSorted()).toEqual([active, unreadable].toSorted());
    expect(targets.get(unreadable)?.secret).toBeNull();
  });
});

test('claims are counted for each delivery, in any order', async () => {
  const { lane, deliveries } = await world.seedLane(3);
  await world.storage.countClaims([deliveries[2], deliveries[0]]);
  const [first] = await world.read(lane);
  await world.storage.countClaims([{ ...deliveries[0], claims: first?.claims ?? [] }]);
  const [twice = [], never, once] = (await world.read(lane)).map(({ claims }) => claims);
  expect([twice.length, never, once?.length]).toEqual([2, [], 1]);
  expect(twice[0]).toEqual(first?.claims[0]);
  const times = `select claimed_at[1] < claimed_at[2] and claimed_at[2] between now() - interval '1 minute' and now() as "areClaims"
    from webhook_pending_delivery where cardinality(claimed_at) = 2`;
  expect(await world.admin.run(times)).toEqual([{ areClaims: true }]);
});

test('a claim that is counted again, because the outcome of the first call was unknown, is counted once', async () => {
  const { lane, deliveries } = await world.seedLane(1);
  const [{ deliveryId }] = deliveries;
  for (let call = 0; call < 3; call += 1)
    expect([...(await world.storage.countClaims(deliveries))]).toEqual([deliveryId]);
  expect((await world.read(lane)).map(({ claims }) => claims.length)).toEqual([1]);
});

test('claims are not counted if there are others than this worker has read', async () => {
  const { lane, deliveries } = await world.seedLane(1);
  const others =
    'update webhook_pending_delivery set claimed_at = array_fill(now(), array[3]) where subscription_id = $1';
  await world.admin.run(others, [lane]);
  expect([...(await world.storage.countClaims(deliveries))]).toEqual([]);
  expect((await world.read(lane)).map(({ claims }) => claims.length)).toEqual([3]);
});

test('claims are not counted for deliveries that another transaction has locked, or that are no longer pending', async () => {
  const { lane, deliveries } = await world.seedLane(3);
  const [settled, locked, free] = deliveries;
  await world.admin.run('delete from webhook_pending_delivery where delivery_id = $1', [settled.deliveryId]);
  const lock = 'select from webhook_pending_delivery where delivery_id = $1 for update';
  const unlock = await hold(world.database.databaseUrl, lock, [locked.deliveryId]);
  const counted = await world.storage.countClaims(deliveries);
  await unlock();
  expect([...counted]).toEqual([free.deliveryId]);
  expect((await world.read(lane)).map(({ claims }) => claims.length)).toEqual([0, 1]);
});
