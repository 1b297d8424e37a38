import { forFile } from '@deedwire/testing/for-file';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { beforeEach, describe, expect, test } from 'vitest';
import { selectEventBodies } from '../../../src/webhooks/pull/event-bodies.ts';
import { idDaysAgo, idOf, nowMs, numbersTo, PullWorld } from './pull-world.ts';

let id: SubscriptionId;

const world = await forFile(PullWorld.create());
beforeEach(async () => {
  await world.clear();
  id = await world.subscribe();
  await world.expireBefore(0n);
});

const start = { sequence: 0, fromId: 0n };
const hourMs = 3_600_000;

/** Ids in the order of the numbers: 1,200, one every 30 s, the last one now. */
const ofTheClock = (minutesOff: (index: number) => number = () => 0): bigint[] =>
  Array.from({ length: 1200 }, (_, index) =>
    idOf(nowMs - (1200 - index) * 30_000 + minutesOff(index) * 60_000, index % 4096),
  );

describe.each([1, 100])('in pages of %d', (limit) => {
  test.each<[string, () => bigint[], number]>([
    ['the clock is right', () => ofTheClock(), 0],
    ['the clock is set back by an hour', () => ofTheClock((index) => (index < 600 ? 0 : -60)), 0],
    ['the clock is an hour ahead for a while', () => ofTheClock((index) => (index > 300 && index < 600 ? 60 : 0)), 0],
    ['the clock is an hour behind for a while', () => ofTheClock((index) => (index > 300 && index < 600 ? -60 : 0)), 0],
    ['days lie between them', () => [36, 25, 24.99, 12, 1, 0.5, 0.1].map((days) => idDaysAgo(days)), 0],
    [
      'ids of a millisecond are in any order',
      () =>
        Array.from({ length: 1500 }, (_, index) => idOf(nowMs - 5000 + Math.floor(index / 400), (index * 7919) % 4001)),
      0,
    ],
  ])('reads every number once if %s', async (_, ids, wide) => {
    if (limit === 1 && ids().length > 100) await world.deliver(id, ids().slice(560, 640));
    else await world.deliver(id, ids());
    const count = (await world.open(id)).lastSequence;
    expect(await world.readAll(id, start, limit)).toEqual({ numbers: numbersTo(count), end: 'full', wide });
  });
});

test('finds deliveries although the clock was set back by days', async () => {
  await world.deliver(id, [idDaysAgo(3), idDaysAgo(8), idDaysAgo(2)]);
  expect(await world.readAll(id, { sequence: 1, fromId: idDaysAgo(3) }, 2)).toEqual({
    numbers: [2, 3],
    end: 'full',
    wide: 1,
  });
});

test('reports a wide read for a position that is far from its deliveries, as no cursor of ours is', async () => {
  await world.deliver(id, ofTheClock());
  for (const fromId of [0n, idOf(nowMs), idOf(nowMs + 6 * hourMs)]) {
    let wide = 0;
    const forged = { sequence: 1_000, fromId, isProven: false };
    const { rows } = await world.page(id, forged, 5, () => (wide += 1));
    expect(rows.map(({ sequence }) => sequence)).toEqual([1_001, 1_002, 1_003, 1_004, 1_005]);
    expect(wide).toBe(1);
  }
});

test('a page says how many deliveries there are, and one behind the last is empty', async () => {
  await world.deliver(id, [idDaysAgo(2), idDaysAgo(1)]);
  expect(await world.page(id, start, 1)).toMatchObject({ rows: [{ sequence: 1 }], lastSequence: 2, end: 'full' });
  expect(await world.page(id, { sequence: 2, fromId: idDaysAgo(1) }, 1)).toEqual({
    rows: [],
    lastSequence: 2,
    end: 'full',
  });
  expect(await world.page(await world.subscribe(), start, 1)).toEqual({ rows: [], lastSequence: 0, end: 'full' });
});

test('a row has what a push has', async () => {
  await world.deliver(id, [idDaysAgo(2)]);
  const { rows } = await world.page(id, start, 1);
  expect(rows).toEqual([
    {
      id: String(idDaysAgo(2)),
      sequence: 1,
      eventId: String(idDaysAgo(2)),
      eventType: 'referral.created',
      eventVersion: '2026-11-01',
      occurredAt: new Date('2026-11-02T09:30:00.123Z'),
      isTest: false,
      isErased: false,
    },
  ]);
});

describe('a missing delivery', () => {
  test.each<[string, number[], number[]]>([
    ['in the middle', [5], [1, 2, 3, 4]],
    ['of two', [3, 7], [1, 2]],
    ['at the beginning', [1], []],
    ['at the end', [10], numbersTo(9)],
  ])('%s ends the page before it', async (_, missing, numbers) => {
    id = await world.subscribe(9);
    await world.deliver(
      id,
      numbersTo(10).map((number) => idDaysAgo(8 - number / 10)),
    );
    await world.remove(id, ...missing);
    expect(await world.readAll(id, start, 100)).toMatchObject({ numbers, end: 'missing' });
    const [next = 0] = missing;
    const at = await world.page(id, { sequence: next - 1, fromId: idDaysAgo(8) }, 100);
    expect(at).toMatchObject({ rows: [], end: 'missing' });
  });

  test('is missing also if everything after it is kept and older days were dropped', async () => {
    await world.expireBefore(idDaysAgo(20));
    await world.deliver(
      id,
      numbersTo(10).map((number) => idDaysAgo(20 - number)),
    );
    await world.remove(id, 5);
    expect(await world.readAll(id, { sequence: 0, fromId: idDaysAgo(20) }, 100)).toMatchObject({
      numbers: numbersTo(4),
      end: 'missing',
    });
  });

  test('is noticed at the beginning of a list', async () => {
    id = await world.subscribe(9);
    await world.deliver(
      id,
      numbersTo(10).map((number) => idDaysAgo(8 - number / 10)),
    );
    expect(await world.first(id, 0n)).toEqual({ sequence: 1, isProven: true });
    expect(await world.first(id, idDaysAgo(7.55))).toEqual({ sequence: 5, isProven: true });
    await world.remove(id, 4);
    expect(await world.first(id, idDaysAgo(7.55))).toEqual({ sequence: 5, isProven: false });
    await world.remove(id, 1, 2, 3);
    expect(await world.first(id, 0n)).toEqual({ sequence: 5, isProven: false });
  });
});

describe('after the end of retention', () => {
  beforeEach(async () => {
    await world.deliver(
      id,
      [36, 33, 31, 29, 5, 1].map((days) => idDaysAgo(days)),
    );
    await world.expireBefore(idDaysAgo(30));
  });

  test('a position before the first delivery that is kept has expired', async () => {
    const expired = { rows: [], lastSequence: 6, end: 'expired' };
    expect(await world.page(id, { sequence: 1, fromId: idDaysAgo(36) }, 9)).toEqual(expired);
    expect(await world.page(id, { sequence: 2, fromId: idDaysAgo(33) }, 9)).toEqual(expired);
    expect(await world.readAll(id, { sequence: 3, fromId: idDaysAgo(31) }, 2)).toMatchObject({
      numbers: [4, 5, 6],
      end: 'full',
    });
    expect(await world.first(id, idDaysAgo(30))).toEqual({ sequence: 4, isProven: true });
  });

  test('so has one whose delivery was dropped', async () => {
    await world.expireBefore(idDaysAgo(25));
    await world.remove(id, 1, 2, 3, 4);
    expect(await world.page(id, { sequence: 1, fromId: idDaysAgo(36) }, 9)).toMatchObject({ rows: [], end: 'expired' });
    expect(await world.first(id, idDaysAgo(25))).toEqual({ sequence: 5, isProven: true });
    await world.remove(id, 5, 6);
    expect(await world.first(id, idDaysAgo(25))).toBe(null);
    expect(await world.page(id, { sequence: 5, fromId: idDaysAgo(5) }, 9)).toMatchObject({ rows: [], end: 'expired' });
  });

  test('a position behind the last delivery has not', async () => {
    await world.expireBefore(idDaysAgo(0));
    expect(await world.page(id, { sequence: 6, fromId: idDaysAgo(1) }, 9)).toEqual({
      rows: [],
      lastSequence: 6,
      end: 'full',
    });
  });
});

describe('the first number from a time on', () => {
  test('is the lowest, although the clock was set back around it', async () => {
    await world.deliver(
      id,
      ofTheClock((index) => (index < 600 ? 0 : -60)),
    );
    // Deliveries 481 to 600 and, an hour later by any other clock, 601 to 720 have ids of the same hour.
    const from = idOf(nowMs - 720 * 30_000 + 15_000);
    expect(await world.first(id, from)).toEqual({ sequence: 482, isProven: true });
    expect(await world.readAll(id, { sequence: 481, fromId: from }, 100)).toMatchObject({
      numbers: numbersTo(1200, 482),
    });
  });

  test('is null if none was numbered since', async () => {
    await world.deliver(id, [idDaysAgo(2)]);
    expect(await world.first(id, idDaysAgo(1))).toBe(null);
  });

  test('is found over weeks without deliveries', async () => {
    await world.deliver(id, [idDaysAgo(35), idDaysAgo(1)]);
    expect(await world.first(id, idDaysAgo(30))).toEqual({ sequence: 2, isProven: true });
    expect(await world.first(id, idDaysAgo(36))).toEqual({ sequence: 1, isProven: true });
  });
});

describe('that nothing was numbered from a time on', () => {
  test('is proven by the last delivery before it', async () => {
    await world.deliver(id, [idDaysAgo(3), idDaysAgo(2)]);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(true);
    await world.remove(id, 2);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(false);
    await world.remove(id, 1);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(false);
  });

  test('is proven although the clock was set back by days', async () => {
    const later = Array.from({ length: 600 }, (_, index) => idDaysAgo(2, index));
    await world.deliver(id, [...later, idDaysAgo(5)]);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(true);
    await world.remove(id, 601);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(false);
  });

  test('is assumed if retention can have dropped the last delivery', async () => {
    await world.deliver(id, [idDaysAgo(34), idDaysAgo(33)]);
    await world.expireBefore(idDaysAgo(26));
    await world.remove(id, 2);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(true);
    await world.remove(id, 1);
    expect(await world.isLastBefore(id, idDaysAgo(1))).toBe(true);
    const young = await world.subscribe(20);
    await world.deliver(young, [idDaysAgo(19)]);
    await world.remove(young, 1);
    expect(await world.isLastBefore(young, idDaysAgo(1))).toBe(false);
  });
});

async function bodies(bytesMax?: number) {
  const { rows } = await world.page(id, start, 100);
  return selectEventBodies(world.api, rows, (await world.open(id)).expiredBefore, bytesMax);
}

describe('bodies', () => {
  const allDays = [36, 29, 12, 3, 1.5, 0.5];

  test('are those that were stored, in order', async () => {
    await world.deliver(
      id,
      allDays.map((days) => idDaysAgo(days)),
    );
    const umlauts = '{"n":"ü€😀\u2028"}';
    await world.superuser.run(`update webhook_payload set body = convert_to($2, 'UTF8') where event_id = $1`, [
      idDaysAgo(12),
      umlauts,
    ]);
    expect(await bodies()).toEqual({
      bodies: ['{"n":1}', '{"n":2}', umlauts, '{"n":4}', '{"n":5}', '{"n":6}'],
      isMissing: false,
    });
  });

  test('end where they no longer fit, and one always fits', async () => {
    await world.deliver(
      id,
      allDays.map((days) => idDaysAgo(days)),
    );
    expect(await bodies(14 * 2)).toEqual({ bodies: ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'], isMissing: false });
    expect(await bodies(20)).toEqual({ bodies: ['{"n":1}', '{"n":2}'], isMissing: false });
    expect(await bodies(3)).toEqual({ bodies: ['{"n":1}'], isMissing: false });
  });

  test('are null if they could not be rendered, or their event was dropped', async () => {
    await world.deliver(id, [idDaysAgo(3), idDaysAgo(2), idDaysAgo(1)]);
    await world.superuser.run(`delete from webhook_payload where event_id = $1`, [idDaysAgo(2)]);
    expect(await bodies()).toEqual({ bodies: ['{"n":1}'], isMissing: true });
    await world.superuser.run(
      `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
       values ($1, 1, $2, 'partner', now(), 0, 'RENDERING_FAILED')`,
      [idDaysAgo(2), id],
    );
    expect(await bodies()).toEqual({ bodies: ['{"n":1}', null, '{"n":3}'], isMissing: false });
    await world.superuser.run(
      `with old as (delete from webhook_payload where event_id = $1)
       update webhook_delivery set event_id = $2 where id = $1`,
      [idDaysAgo(1), idDaysAgo(34)],
    );
    expect(await bodies()).toEqual({ bodies: ['{"n":1}', null], isMissing: true });
    await world.expireBefore(idDaysAgo(30));
    expect(await bodies()).toEqual({ bodies: ['{"n":1}', null, null], isMissing: false });
  });
});
