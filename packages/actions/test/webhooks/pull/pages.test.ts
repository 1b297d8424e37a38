import { idAt } from '@deedwire/core';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { seedAccount } from '@deedwire/webhooks/test-support';
import { beforeEach, describe, expect, test } from 'vitest';
import { selectEventBodies } from '../../../src/webhooks/pull/event-bodies.ts';
import { findFirstNumbered, isLastBefore } from '../../../src/webhooks/pull/first-numbered.ts';
import { type NumberedPage, type PullPosition, readNumberedPage } from '../../../src/webhooks/pull/numbered-page.ts';
import { type PulledSubscription, selectPulledSubscription } from '../../../src/webhooks/pull/statements.ts';
import { openPastDays } from '../support/past-days.ts';

const nowMs = Date.now();
const dayMs = 86_400_000;

/** The id of a time in milliseconds, as the database would have drawn it. `order` tells ids of a millisecond apart. */
function idOf(ms: number, order = 0): bigint {
  return BigInt(idAt(new Date(Math.floor(ms)))) + BigInt(order);
}

const idDaysAgo = (days: number, order = 0): bigint => idOf(nowMs - days * dayMs, order);

const { superuser, store, api, insertSubscription } = await openPastDays();
const { id: accountId } = await seedAccount(store);
let subscriptions = 0;

/** Deletes all deliveries, so that tests can use the same ids. */
async function clear(): Promise<void> {
  for (const table of ['delivery', 'payload', 'attempt']) await superuser.run(`delete from webhook_${table}`);
}

/** @param daysOld when it was created */
function subscribe(daysOld = 37): Promise<SubscriptionId> {
  subscriptions += 1;
  return insertSubscription(accountId, idDaysAgo(daysOld, subscriptions));
}

/** Inserts deliveries with these ids, numbered in this order. Their bodies are `{"n":<number>}`. */
async function deliver(subscriptionId: SubscriptionId, ids: readonly bigint[]): Promise<void> {
  await superuser.run(
    `with numbered as (
       update webhook_subscription_sequence set last_sequence = last_sequence + cardinality($3::bigint[])
       where subscription_id = $1
       returning last_sequence - cardinality($3::bigint[]) as before
     ),
     delivery as (
       insert into webhook_delivery
         (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
       select d.id, $1, $2, 'customer', d.id, 'order.placed', '2026-11-01', '2026-11-02T09:30:00.123Z', n.before + d.number
       from numbered n, unnest($3::bigint[]) with ordinality as d (id, number)
       returning event_id, sequence
     )
     insert into webhook_payload (event_id, event_version, interface, body)
     select event_id, '2026-11-01', 'customer', convert_to('{"n":' || sequence || '}', 'UTF8') from delivery`,
    [subscriptionId, accountId, ids],
  );
}

async function remove(subscriptionId: SubscriptionId, ...sequences: readonly number[]): Promise<void> {
  await superuser.run('delete from webhook_delivery where subscription_id = $1 and sequence = any($2)', [
    subscriptionId,
    sequences,
  ]);
}

async function expireBefore(id: bigint): Promise<void> {
  await superuser.run('update webhook_retention set expired_before = $1', [id]);
}

async function open(id: SubscriptionId): Promise<PulledSubscription> {
  const subscription = await selectPulledSubscription(api, accountId, id, 'PUSH');
  if (subscription === null) throw new Error(`The subscription ${id} does not exist.`);
  return subscription;
}

async function page(
  id: SubscriptionId,
  position: PullPosition,
  limit: number,
  onWideRead?: () => void,
): Promise<NumberedPage> {
  return readNumberedPage(api, await open(id), position, limit, onWideRead);
}

/** Reads the numbers of all pages from a position on. */
async function readAll(
  id: SubscriptionId,
  start: PullPosition,
  limit: number,
): Promise<{ numbers: number[]; end: string; wide: number }> {
  const numbers: number[] = [];
  let wide = 0;
  for (let position = start; ;) {
    const { rows, lastSequence, end } = await page(id, position, limit, () => (wide += 1));
    numbers.push(...rows.map(({ sequence }) => sequence));
    const last = rows.at(-1);
    if (end !== 'full' || last === undefined || last.sequence === lastSequence) return { numbers, end, wide };
    position = { sequence: last.sequence, fromId: BigInt(last.id) };
  }
}

async function first(id: SubscriptionId, fromId: bigint): Promise<ReturnType<typeof findFirstNumbered>> {
  return findFirstNumbered(api, await open(id), fromId);
}

async function isLast(id: SubscriptionId, fromId: bigint): Promise<boolean> {
  return isLastBefore(api, await open(id), fromId);
}

function numbersTo(count: number, from = 1): number[] {
  return Array.from({ length: Math.max(0, count - from + 1) }, (_, index) => from + index);
}

let id: SubscriptionId;

beforeEach(async () => {
  await clear();
  id = await subscribe();
  await expireBefore(0n);
});

const start = { sequence: 0, fromId: 0n };
const deliverDaysAgo = (days: readonly number[]) =>
  deliver(
    id,
    days.map((ago) => idDaysAgo(ago)),
  );
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
    if (limit === 1 && ids().length > 100) await deliver(id, ids().slice(560, 640));
    else await deliver(id, ids());
    const count = (await open(id)).lastSequence;
    expect(await readAll(id, start, limit)).toEqual({ numbers: numbersTo(count), end: 'full', wide });
  });
});

test('finds deliveries although the clock was set back by days', async () => {
  await deliver(id, [idDaysAgo(3), idDaysAgo(8), idDaysAgo(2)]);
  expect(await readAll(id, { sequence: 1, fromId: idDaysAgo(3) }, 2)).toEqual({
    numbers: [2, 3],
    end: 'full',
    wide: 1,
  });
});

test('reports a wide read for a position that is far from its deliveries, as no cursor of ours is', async () => {
  await deliver(id, ofTheClock());
  for (const fromId of [0n, idOf(nowMs), idOf(nowMs + 6 * hourMs)]) {
    let wide = 0;
    const forged = { sequence: 1_000, fromId, isProven: false };
    const { rows } = await page(id, forged, 5, () => (wide += 1));
    expect(rows.map(({ sequence }) => sequence)).toEqual([1_001, 1_002, 1_003, 1_004, 1_005]);
    expect(wide).toBe(1);
  }
});

test('a page says how many deliveries there are, and one after the last is empty', async () => {
  await deliver(id, [idDaysAgo(2), idDaysAgo(1)]);
  expect(await page(id, start, 1)).toMatchObject({ rows: [{ sequence: 1 }], lastSequence: 2, end: 'full' });
  expect(await page(id, { sequence: 2, fromId: idDaysAgo(1) }, 1)).toEqual({
    rows: [],
    lastSequence: 2,
    end: 'full',
  });
  expect(await page(await subscribe(), start, 1)).toEqual({ rows: [], lastSequence: 0, end: 'full' });
});

test('a row has what a push has', async () => {
  await deliver(id, [idDaysAgo(2)]);
  const { rows } = await page(id, start, 1);
  expect(rows).toEqual([
    {
      id: String(idDaysAgo(2)),
      sequence: 1,
      eventId: String(idDaysAgo(2)),
      eventType: 'order.placed',
      eventVersion: '2026-11-01',
      occurredAt: new Date('2026-11-02T09:30:00.123Z'),
      isTest: false,
      isErased: false,
    },
  ]);
});

/** Within a day, a week ago. */
async function deliverTen(): Promise<void> {
  id = await subscribe(9);
  await deliverDaysAgo(numbersTo(10).map((number) => 8 - number / 10));
}

describe('a missing delivery', () => {
  test.each<[string, number[], number[]]>([
    ['in the middle', [5], [1, 2, 3, 4]],
    ['of two', [3, 7], [1, 2]],
    ['at the beginning', [1], []],
    ['at the end', [10], numbersTo(9)],
  ])('%s ends the page before it', async (_, missing, numbers) => {
    await deliverTen();
    await remove(id, ...missing);
    expect(await readAll(id, start, 100)).toMatchObject({ numbers, end: 'missing' });
    const [next = 0] = missing;
    const at = await page(id, { sequence: next - 1, fromId: idDaysAgo(8) }, 100);
    expect(at).toMatchObject({ rows: [], end: 'missing' });
  });

  test('is missing also if everything after it is kept and older days were dropped', async () => {
    await expireBefore(idDaysAgo(20));
    await deliver(
      id,
      numbersTo(10).map((number) => idDaysAgo(20 - number)),
    );
    await remove(id, 5);
    expect(await readAll(id, { sequence: 0, fromId: idDaysAgo(20) }, 100)).toMatchObject({
      numbers: numbersTo(4),
      end: 'missing',
    });
  });

  test('is noticed at the beginning of a list', async () => {
    await deliverTen();
    expect(await first(id, 0n)).toEqual({ sequence: 1, isProven: true });
    expect(await first(id, idDaysAgo(7.55))).toEqual({ sequence: 5, isProven: true });
    await remove(id, 4);
    expect(await first(id, idDaysAgo(7.55))).toEqual({ sequence: 5, isProven: false });
    await remove(id, 1, 2, 3);
    expect(await first(id, 0n)).toEqual({ sequence: 5, isProven: false });
  });
});

describe('after the end of retention', () => {
  beforeEach(async () => {
    await deliverDaysAgo([36, 33, 31, 29, 5, 1]);
    await expireBefore(idDaysAgo(30));
  });

  test('a position before the first delivery that is kept has expired', async () => {
    const expired = { rows: [], lastSequence: 6, end: 'expired' };
    expect(await page(id, { sequence: 1, fromId: idDaysAgo(36) }, 9)).toEqual(expired);
    expect(await page(id, { sequence: 2, fromId: idDaysAgo(33) }, 9)).toEqual(expired);
    expect(await readAll(id, { sequence: 3, fromId: idDaysAgo(31) }, 2)).toMatchObject({
      numbers: [4, 5, 6],
      end: 'full',
    });
    expect(await first(id, idDaysAgo(30))).toEqual({ sequence: 4, isProven: true });
  });

  test('so has one whose delivery was dropped', async () => {
    await expireBefore(idDaysAgo(25));
    await remove(id, 1, 2, 3, 4);
    expect(await page(id, { sequence: 1, fromId: idDaysAgo(36) }, 9)).toMatchObject({ rows: [], end: 'expired' });
    expect(await first(id, idDaysAgo(25))).toEqual({ sequence: 5, isProven: true });
    await remove(id, 5, 6);
    expect(await first(id, idDaysAgo(25))).toBe(null);
    expect(await page(id, { sequence: 5, fromId: idDaysAgo(5) }, 9)).toMatchObject({ rows: [], end: 'expired' });
  });

  test('a position after the last delivery has not', async () => {
    await expireBefore(idDaysAgo(0));
    expect(await page(id, { sequence: 6, fromId: idDaysAgo(1) }, 9)).toEqual({
      rows: [],
      lastSequence: 6,
      end: 'full',
    });
  });
});

describe('the first number from a time on', () => {
  test('is the lowest, although the clock was set back around it', async () => {
    await deliver(
      id,
      ofTheClock((index) => (index < 600 ? 0 : -60)),
    );
    // Deliveries 481 to 600 and, an hour later by any other clock, 601 to 720 have ids of the same hour.
    const from = idOf(nowMs - 720 * 30_000 + 15_000);
    expect(await first(id, from)).toEqual({ sequence: 482, isProven: true });
    expect(await readAll(id, { sequence: 481, fromId: from }, 100)).toMatchObject({
      numbers: numbersTo(1200, 482),
    });
  });

  test('is null if none was numbered since', async () => {
    await deliver(id, [idDaysAgo(2)]);
    expect(await first(id, idDaysAgo(1))).toBe(null);
  });

  test('is found over weeks without deliveries', async () => {
    await deliver(id, [idDaysAgo(35), idDaysAgo(1)]);
    expect(await first(id, idDaysAgo(30))).toEqual({ sequence: 2, isProven: true });
    expect(await first(id, idDaysAgo(36))).toEqual({ sequence: 1, isProven: true });
  });
});

describe('that nothing was numbered from a time on', () => {
  test('is proven by the last delivery before it', async () => {
    await deliver(id, [idDaysAgo(3), idDaysAgo(2)]);
    expect(await isLast(id, idDaysAgo(1))).toBe(true);
    await remove(id, 2);
    expect(await isLast(id, idDaysAgo(1))).toBe(false);
    await remove(id, 1);
    expect(await isLast(id, idDaysAgo(1))).toBe(false);
  });

  test('is proven although the clock was set back by days', async () => {
    const later = Array.from({ length: 600 }, (_, index) => idDaysAgo(2, index));
    await deliver(id, [...later, idDaysAgo(5)]);
    expect(await isLast(id, idDaysAgo(1))).toBe(true);
    await remove(id, 601);
    expect(await isLast(id, idDaysAgo(1))).toBe(false);
  });

  test('is assumed if retention can have dropped the last delivery', async () => {
    await deliver(id, [idDaysAgo(34), idDaysAgo(33)]);
    await expireBefore(idDaysAgo(26));
    await remove(id, 2);
    expect(await isLast(id, idDaysAgo(1))).toBe(true);
    await remove(id, 1);
    expect(await isLast(id, idDaysAgo(1))).toBe(true);
    const young = await subscribe(20);
    await deliver(young, [idDaysAgo(19)]);
    await remove(young, 1);
    expect(await isLast(young, idDaysAgo(1))).toBe(false);
  });
});

async function bodies(bytesMax?: number) {
  const { rows } = await page(id, start, 100);
  return selectEventBodies(api, rows, (await open(id)).expiredBefore, bytesMax);
}

describe('bodies', () => {
  const allDays = [36, 29, 12, 3, 1.5, 0.5];

  test('are those that were stored, in order', async () => {
    await deliverDaysAgo(allDays);
    const umlauts = '{"n":"ü€😀\u2028"}';
    await superuser.run(`update webhook_payload set body = convert_to($2, 'UTF8') where event_id = $1`, [
      idDaysAgo(12),
      umlauts,
    ]);
    expect(await bodies()).toEqual({
      bodies: ['{"n":1}', '{"n":2}', umlauts, '{"n":4}', '{"n":5}', '{"n":6}'],
      isMissing: false,
    });
  });

  test('end where they no longer fit, and one always fits', async () => {
    await deliverDaysAgo(allDays);
    expect(await bodies(14 * 2)).toEqual({ bodies: ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'], isMissing: false });
    expect(await bodies(20)).toEqual({ bodies: ['{"n":1}', '{"n":2}'], isMissing: false });
    expect(await bodies(3)).toEqual({ bodies: ['{"n":1}'], isMissing: false });
  });

  test('are null if they could not be rendered, or their event was dropped', async () => {
    await deliver(id, [idDaysAgo(3), idDaysAgo(2), idDaysAgo(1)]);
    await superuser.run(`delete from webhook_payload where event_id = $1`, [idDaysAgo(2)]);
    expect(await bodies()).toEqual({ bodies: ['{"n":1}'], isMissing: true });
    await superuser.run(
      `insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, error)
       values ($1, 1, $2, 'customer', now(), 0, 'RENDERING_FAILED')`,
      [idDaysAgo(2), id],
    );
    expect(await bodies()).toEqual({ bodies: ['{"n":1}', null, '{"n":3}'], isMissing: false });
    await superuser.run(
      `with old as (delete from webhook_payload where event_id = $1)
       update webhook_delivery set event_id = $2 where id = $1`,
      [idDaysAgo(1), idDaysAgo(34)],
    );
    expect(await bodies()).toEqual({ bodies: ['{"n":1}', null], isMissing: true });
    await expireBefore(idDaysAgo(30));
    expect(await bodies()).toEqual({ bodies: ['{"n":1}', null, null], isMissing: false });
  });
});
