import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { CostSettlement } from '@deedwire/store/cost-buckets';
import { describe, expect, test } from 'vitest';
import type { CostBuckets } from './bucket.ts';
import { type CostBucketsOptions, createCostBuckets } from './cost-buckets.ts';

const limit = { maximum: 2_000, restoreRate: 200 };

type Settled = Awaited<ReturnType<CostBucketsOptions['settle']>>;

interface SetUp {
  buckets: CostBuckets;
  /** Settlements, oldest first. */
  settlements: CostSettlement[];
  charges: string[];
  /** The points of the shared bucket. It does not restore them by itself. */
  shared: { points: number };
  /** Moves the clock of the process. */
  pass: (ms: number) => void;
  /** Replaces the database. */
  respond: { with: (settlement: CostSettlement) => Promise<Settled> };
}

/** A process with a shared bucket that decides as the statement of the store does, and a clock that stands still. */
function setUp(options: Partial<CostBucketsOptions> = {}): SetUp {
  let nowMs = 1_000;
  const settlements: CostSettlement[] = [];
  const charges: string[] = [];
  const shared = { points: limit.maximum };
  const respond: SetUp['respond'] = {
    async with({ change, needed, least, spare }) {
      shared.points = Math.min(limit.maximum, shared.points + change);
      const rest = Math.max(0, shared.points - needed);
      const wanted =
        shared.points < least ? 0 : Math.floor(Math.min(shared.points, needed + Math.min(spare, rest / 2)));
      const granted = Math.max(0, wanted);
      shared.points -= granted;
      return { granted, points: shared.points };
    },
  };
  const buckets = createCostBuckets({
    settle: (_, settlement) => {
      settlements.push(settlement);
      return respond.with(settlement);
    },
    monotonicMs: () => nowMs,
    refundWaitMs: 0,
    onCharge: ({ points, admitted, basis }) => charges.push(`${points} ${admitted ? 'admitted' : 'rejected'} ${basis}`),
    ...options,
  });
  return { buckets, settlements, charges, shared, respond, pass: (ms) => (nowMs += ms) };
}

/** Lets settlements in the background end. */
const settled = () => sleep(1);

/** Charges 900 of the 1,000 points of a client. */
async function chargeMost({ buckets, shared }: SetUp): Promise<{ refund: () => void; end: () => void }> {
  shared.points = 1_000;
  return { refund: () => buckets.refund('a', limit, 800), end: await admittedCharge(buckets.charge('a', limit, 900)) };
}

async function admittedCharge(charge: ReturnType<CostBuckets['charge']>): Promise<() => void> {
  const admission = await charge;
  if (!admission.admitted) throw new Error('The charge was rejected.');
  return admission.end;
}

async function isAdmitted(charge: ReturnType<CostBuckets['charge']>): Promise<boolean> {
  try {
    return (await charge).admitted;
  } catch {
    return false;
  }
}

const unavailable = () => Promise.reject(new Error('The database is not available.'));

describe('charge', () => {
  test('what a process holds beyond a lower limit returns to the shared bucket', async () => {
    const { buckets, settlements, charges } = setUp();
    await buckets.charge('a', limit, 10);
    const lower = { maximum: 500, restoreRate: 2 };
    await buckets.charge('a', lower, 50);
    expect(charges).toEqual(['10 admitted settled', '50 admitted settled']);
    expect(settlements.at(-1)).toMatchObject({ change: limit.restoreRate / 2 - lower.restoreRate / 2 });
  });

  test('waits for the first points, and spends the following ones without the database', async () => {
    const { buckets, settlements, charges, shared } = setUp();
    expect(await buckets.charge('a', limit, 100)).toEqual({
      admitted: true,
      throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: 1_900, restoreRate: 200 },
      end: expect.any(Function),
    });
    expect(settlements).toMatchObject([{ change: 0, needed: 100, least: 100, spare: 100 }]);
    for (let count = 0; count < 10; count += 1) await buckets.charge('a', limit, 5);
    expect(settlements).toHaveLength(1);
    expect(charges).toEqual(['100 admitted settled', ...Array.from({ length: 10 }, () => '5 admitted held')]);
    expect(shared.points).toBe(1_800);
  });

  test('waits longer for the first points of a client, about which the process knows nothing', async () => {
    const { buckets, charges, respond } = setUp({ waitMs: 1, firstWaitMs: 60_000 });
    const database = respond.with;
    respond.with = async (settlement) => {
      await sleep(20);
      return database(settlement);
    };
    expect(await buckets.charge('a', limit, 60)).toMatchObject({ admitted: true });
    expect(charges).toEqual(['60 admitted settled']);
  });

  test('of more points than the process may spend in advance waits for a late response, and delays no smaller one', async () => {
    const { buckets, charges, respond } = setUp({ waitMs: 1, firstWaitMs: 1 });
    const database = respond.with;
    const response = Promise.withResolvers<void>();
    respond.with = async (settlement) => {
      await response.promise;
      return database(settlement);
    };
    const larger = [buckets.charge('a', limit, 400), buckets.charge('a', limit, 500)];
    expect(await buckets.charge('a', limit, 60)).toMatchObject({ admitted: true });
    larger.push(buckets.charge('a', limit, 600));
    expect(await buckets.charge('a', limit, 30)).toMatchObject({ admitted: true });
    expect(charges).toEqual(['60 admitted alone', '30 admitted alone']);
    response.resolve();
    for (const charge of larger) expect(await charge).toMatchObject({ admitted: true });
    expect(charges.slice(2)).toEqual(['400 admitted settled', '500 admitted settled', '600 admitted settled']);
    await settled();
    expect(buckets.status('a', limit).currentlyAvailable).toBe(2_000 - 60 - 30 - 400 - 500 - 600);
  });

  test('takes more points in the background when less than half of them are left', async () => {
    const { buckets, settlements, charges } = setUp();
    await buckets.charge('a', limit, 100);
    await buckets.charge('a', limit, 60);
    await settled();
    expect(settlements).toMatchObject([{ needed: 100 }, { change: 0, needed: 0, least: 0, spare: 60 }]);
    await buckets.charge('a', limit, 90);
    expect(charges).toEqual(['100 admitted settled', '60 admitted held', '90 admitted held']);
  });

  test('rejects what the bucket does not hold, says when it will, and takes nothing', async () => {
    const { buckets, shared } = setUp();
    shared.points = 300;
    expect(await buckets.charge('a', limit, 900)).toEqual({
      admitted: false,
      throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: 300, restoreRate: 200 },
      retryAfterMs: 3_000,
    });
    expect(await buckets.charge('a', limit, 300)).toMatchObject({ admitted: true });
    expect(shared.points).toBe(0);
  });

  test('a client that is rejected again and again causes at most one settlement in 50 ms', async () => {
    const { buckets, settlements, shared, pass } = setUp();
    shared.points = 0;
    for (let count = 0; count < 100; count += 1) {
      expect(await buckets.charge('a', limit, 10)).toMatchObject({ admitted: false });
      await settled();
    }
    expect(settlements.length).toBeLessThanOrEqual(2);
    pass(51);
    shared.points = 10;
    expect(await buckets.charge('a', limit, 10)).toMatchObject({ admitted: true });
  });

  test('charges that wait at the same time share a settlement, in their order', async () => {
    const { buckets, settlements, shared } = setUp();
    shared.points = 1_000;
    const charges = await Promise.all([500, 400, 300, 100].map(async (points) => buckets.charge('a', limit, points)));
    expect(charges.map(({ admitted }) => admitted)).toEqual([true, true, false, true]);
    // The first settlement was for the first charge, with 100 points to spare; the other charges came during it.
    expect(settlements.slice(0, 2)).toMatchObject([
      { needed: 500, least: 500, spare: 100 },
      { needed: 700, least: 0, spare: 100 },
    ]);
  });

  test('the buckets of clients are separate', async () => {
    const { buckets, charges } = setUp();
    await buckets.charge('a', limit, 10);
    await buckets.charge('b', limit, 10);
    expect(charges).toEqual(['10 admitted settled', '10 admitted settled']);
  });
});

describe('refund', () => {
  test('returns the points that the operation did not use, and no more than fit', async () => {
    const { buckets, shared } = setUp();
    await buckets.charge('a', limit, 900);
    expect(buckets.refund('a', limit, 890).currentlyAvailable).toBe(1_990);
    await settled();
    expect(shared.points).toBe(1_890); // the process holds 100
    expect(buckets.refund('a', limit, 500).currentlyAvailable).toBe(2_000);
    await settled();
    expect(shared.points).toBe(2_000);
  });

  test('never holds more than the points of half a second', async () => {
    const { buckets, settlements } = setUp();
    await buckets.charge('a', limit, 1_000);
    buckets.refund('a', limit, 1_000);
    await settled();
    expect(settlements.at(-1)).toMatchObject({ change: 1_000, needed: 0, spare: 0 });
  });

  test('points whose return may have been committed are not returned again', async () => {
    const { buckets, settlements, respond, pass } = setUp();
    await buckets.charge('a', limit, 1_000);
    const database = respond.with;
    respond.with = unavailable;
    buckets.refund('a', limit, 1_000);
    await settled();
    respond.with = database;
    pass(250);
    await buckets.charge('a', limit, 1_000);
    await settled();
    expect(settlements.map(({ change }) => change).filter((change) => change > 0)).toHaveLength(1);
  });
});

describe('refunds of earlier charges', () => {
  test('that come during the settlement of a charge count', async () => {
    const process = setUp();
    const { buckets, respond } = process;
    const { refund } = await chargeMost(process);
    const database = respond.with;
    respond.with = async (settlement) => {
      const row = await database(settlement);
      respond.with = database;
      refund();
      return row;
    };
    expect(await buckets.charge('a', limit, 700)).toMatchObject({
      admitted: true,
      throttleStatus: { currentlyAvailable: 200 },
    });
  });

  test('are waited for before a charge is rejected', async () => {
    const process = setUp({ refundWaitMs: 60_000 });
    const { buckets, charges } = process;
    const { refund } = await chargeMost(process);
    const waiting = [buckets.charge('a', limit, 700), buckets.charge('a', limit, 150)];
    await settled();
    expect(charges).toEqual(['900 admitted settled']);
    // A charge that needs no refund does not wait for the others.
    expect(await buckets.charge('a', limit, 50)).toMatchObject({ admitted: true });
    refund();
    for (const charge of waiting) expect(await charge).toMatchObject({ admitted: true });
    expect(buckets.status('a', limit).currentlyAvailable).toBe(0);
  });

  test('are waited for before a request of a client without points is refused', async () => {
    const process = setUp({ refundWaitMs: 60_000 });
    const { buckets, charges } = process;
    const { refund } = await chargeMost(process);
    const larger = buckets.charge('a', limit, 200);
    await settled();
    const smaller = buckets.knownRejection('a', limit, 150);
    await settled();
    refund();
    expect([await smaller, await larger]).toMatchObject([null, { admitted: true }]);
    expect(charges).toEqual(['900 admitted settled', '200 admitted settled']);
  });

  test('end a wait when the last charge ends, and the rejection says when there will be enough points', async () => {
    const process = setUp({ refundWaitMs: 60_000 });
    const { buckets } = process;
    const ends = [(await chargeMost(process)).end, await admittedCharge(buckets.charge('a', limit, 100))];
    const waiting = buckets.charge('a', limit, 600);
    await settled();
    for (const end of ends) end();
    expect(await waiting).toMatchObject({ admitted: false, retryAfterMs: 3_000 });
    expect(await buckets.charge('a', limit, 600)).toMatchObject({ admitted: false });
  });

  test('are waited for at most as long as configured', async () => {
    const process = setUp({ refundWaitMs: 5, monotonicMs: () => performance.now() });
    await chargeMost(process);
    expect(await process.buckets.charge('a', limit, 700)).toMatchObject({ admitted: false });
  });
});

describe('while the database does not respond', () => {
  test('charges are admitted as far as the process may spend points in advance, and others fail at the timeout', async () => {
    const { buckets, charges, respond } = setUp({ waitMs: 1, firstWaitMs: 1 });
    const response = Promise.withResolvers<never>();
    respond.with = () => response.promise;
    expect(await buckets.charge('a', limit, 60)).toMatchObject({ admitted: true });
    const larger = isAdmitted(buckets.charge('a', limit, 41));
    expect(await buckets.charge('a', limit, 40)).toMatchObject({ admitted: true });
    response.reject(new Error('The database does not respond.'));
    expect(await larger).toBe(false);
    await expect(buckets.charge('a', limit, 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(charges).toEqual(['60 admitted alone', '40 admitted alone', '41 rejected alone', '1 rejected alone']);
  });

  test('retries in the background every 250 ms, and pays what it has spent', async () => {
    const { buckets, settlements, shared, respond, pass } = setUp();
    const database = respond.with;
    await buckets.charge('a', limit, 400);
    respond.with = unavailable;
    await buckets.charge('a', limit, 100);
    await buckets.charge('a', limit, 100);
    await settled();
    const before = settlements.length;
    pass(249);
    await expect(buckets.charge('a', limit, 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await settled();
    expect(settlements).toHaveLength(before);
    pass(1);
    await expect(buckets.charge('a', limit, 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await settled();
    respond.with = database;
    pass(250);
    expect(await buckets.charge('a', limit, 1)).toMatchObject({ admitted: true });
    await settled();
    // The one that failed may have paid or not.
    expect(settlements.slice(before).map(({ change }) => change)).toEqual([-100, -100]);
    expect(shared.points).toBe(1_299); // without the 601 points that were spent, and the 100 that the process holds
    expect(buckets.status('a', limit).currentlyAvailable).toBe(1_399);
  });

  test('settlements that fail again and again create no points', async () => {
    const { buckets, respond } = setUp();
    respond.with = unavailable;
    let admitted = 0;
    for (let count = 0; count < 1_000; count += 1) if (await isAdmitted(buckets.charge('a', limit, 1))) admitted += 1;
    expect(admitted).toBe(100);
  });

  test('settlements that are late again and again create no points', async () => {
    const { buckets, shared, respond } = setUp({ waitMs: 1, firstWaitMs: 1 });
    const database = respond.with;
    let release: (() => void) | undefined;
    respond.with = async (settlement) => {
      await new Promise<void>((resolve) => (release = resolve));
      return database(settlement);
    };
    shared.points = 0;
    let admitted = 0;
    for (let count = 0; count < 20; count += 1) {
      let isDecided = false;
      const charge = Promise.resolve(buckets.charge('a', limit, 50)).finally(() => (isDecided = true));
      while (!isDecided) {
        await sleep(5);
        await nextTurn(); // after the wait of the charge has ended
        release?.();
      }
      if ((await charge).admitted) admitted += 50;
    }
    expect(admitted).toBe(100);
  });
});

describe('sweep', () => {
  test('returns the points of a client that is idle for 10 s, and forgets it', async () => {
    const { buckets, settlements, shared, pass } = setUp();
    await buckets.charge('a', limit, 100);
    pass(9_999);
    buckets.sweep();
    await settled();
    expect(settlements).toHaveLength(1);
    pass(1);
    buckets.sweep();
    await settled();
    expect(settlements.at(-1)).toMatchObject({ change: 100, needed: 0, spare: 0, elapsedSeconds: 10 });
    expect(shared.points).toBe(1_900);
    buckets.sweep();
    expect(buckets.status('a', limit).currentlyAvailable).toBe(2_000); // the client is forgotten
  });

  test('holds the points of a bounded number of clients, and returns those of the others', async () => {
    const { buckets, shared } = setUp({ maxClients: 1 });
    await buckets.charge('a', limit, 10);
    expect(shared.points).toBe(1_890);
    await buckets.charge('b', limit, 10);
    await settled();
    expect(shared.points).toBe(1_880); // the double shares one bucket
  });
});

test('applies the limit of each request', async () => {
  const { buckets, shared } = setUp();
  const lower = { maximum: 1_000, restoreRate: 50 };
  await buckets.charge('a', limit, 10);
  expect(await buckets.charge('a', lower, 50)).toMatchObject({
    throttleStatus: { maximumAvailable: 1_000, restoreRate: 50 },
  });
  expect(buckets.refund('a', lower, 50)).toEqual({
    maximumAvailable: 1_000,
    currentlyAvailable: 1_000,
    restoreRate: 50,
  });
  expect(await buckets.charge('b', lower, 50)).toMatchObject({ throttleStatus: { maximumAvailable: 1_000 } });
  await settled();
  expect(shared.points).toBeGreaterThanOrEqual(1_840);
});

test('tells how long ago the last settlement began, so that a step of the clock of the database creates no points', async () => {
  const { buckets, settlements, pass } = setUp();
  pass(3_000);
  await buckets.charge('a', limit, 100);
  pass(500);
  await buckets.charge('a', limit, 300);
  expect(settlements.map(({ elapsedSeconds }) => elapsedSeconds)).toEqual([Infinity, 0.5]);
});

describe('deduct', () => {
  test('takes points that the bucket does not hold, and admits nothing before they are regained', async () => {
    const { buckets, shared, pass } = setUp();
    shared.points = 300;
    await buckets.charge('a', limit, 1);
    buckets.deduct('a', limit, 900);
    await settled();
    // The header of the response has t=4.
    expect(buckets.status('a', limit)).toMatchObject({ currentlyAvailable: 0, nextPointMs: (900 - 299 + 1) * 5 });
    expect(await buckets.charge('a', limit, 1)).toMatchObject({ admitted: false, retryAfterMs: (900 - 299 + 1) * 5 });
    shared.points += 600;
    pass(3_000);
    expect(await buckets.charge('a', limit, 1)).toMatchObject({ admitted: false });
    shared.points += 2;
    pass(10);
    pass(50);
    expect(await buckets.charge('a', limit, 1)).toMatchObject({ admitted: true });
  });

  test('takes the points that the process holds first, without waiting', async () => {
    const { buckets, charges, settlements } = setUp();
    await buckets.charge('a', limit, 1);
    buckets.deduct('a', limit, 40);
    expect(charges).toEqual(['1 admitted settled', '40 admitted held']);
    expect(settlements).toHaveLength(1);
    expect(buckets.status('a', limit).currentlyAvailable).toBe(1_959);
  });
});

describe('a rejection', () => {
  test('is known until the next settlement, unless the points suffice', async () => {
    const { buckets, shared, pass } = setUp();
    shared.points = 0;
    expect(await buckets.knownRejection('a', limit, 1)).toBeNull();
    await buckets.charge('a', limit, 1);
    expect(await buckets.knownRejection('a', limit, 1)).toEqual({
      admitted: false,
      throttleStatus: { maximumAvailable: 2_000, currentlyAvailable: 0, restoreRate: 200 },
      retryAfterMs: 5,
    });
    pass(10);
    expect(await buckets.knownRejection('a', limit, 3)).toMatchObject({ retryAfterMs: 5 });
    expect(await buckets.knownRejection('a', limit, 2)).toBeNull();
    pass(50);
    expect(await buckets.knownRejection('a', limit, 1_000)).toBeNull();
  });

  test('says when the points of a retry are available', async () => {
    const { buckets, shared } = setUp();
    shared.points = 10;
    expect(await buckets.charge('a', limit, 40, 190)).toMatchObject({ admitted: false, retryAfterMs: 180 * 5 });
  });
});
