import { toRecordId } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEventWaits, type EventWait, type EventWaits } from './event-waits.ts';

/** The last numbers of the subscriptions. */
let sequences: Map<string, number>;
/** The subscriptions that each statement asked for. */
let statements: string[][];
let deleted: Set<string>;
let isBroken: boolean;
let waits: EventWaits;

const list = (array: unknown): string[] => String(array).slice(1, -1).split(',');

const database: Database = {
  async query({ name }, [ids, afters]) {
    statements.push(list(ids));
    if (isBroken) throw new Error('The database is unavailable.');
    const rows: object[] = [];
    for (const [index, id] of list(ids).entries()) {
      const lastSequence = sequences.get(id) ?? 0;
      if (lastSequence > Number(list(afters)[index])) rows.push({ id, lastSequence: String(lastSequence) });
      if (name === 'select-advanced-or-deleted' && deleted.has(id)) rows.push({ id, lastSequence: null });
    }
    return rows as never[];
  },
};

beforeEach(() => {
  vi.useFakeTimers();
  [sequences, statements, deleted, isBroken] = [new Map(), [], new Set(), false];
  waits = createEventWaits({ database });
});
afterEach(() => vi.useRealTimers());

/** Begins a wait. Returns what is known about it. */
function wait(request: { account?: number; subscription?: number; after?: number; seconds?: number } = {}) {
  const { account = 1, subscription = 1, after = 0, seconds = 20 } = request;
  const controller = new AbortController();
  const state = { endedAtMs: null as number | null, abort: () => controller.abort() };
  const begun: EventWait = {
    accountId: toRecordId<'Account'>(String(account)),
    subscriptionId: toRecordId(String(subscription)),
    after,
    ms: seconds * 1000,
    signal: controller.signal,
  };
  const startMs = Date.now();
  void waits.wait(begun).then(() => (state.endedAtMs = Date.now() - startMs));
  return state;
}

const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('ends a wait when its subscription has a later event, and no other', async () => {
  const [first, behind, other] = [wait(), wait({ after: 1 }), wait({ subscription: 2 })];
  await advance(1000);
  sequences.set('1', 1);
  await advance(200);
  expect([first.endedAtMs, behind.endedAtMs, other.endedAtMs]).toEqual([1200, null, null]);
  sequences.set('1', 2);
  await advance(200);
  expect(behind.endedAtMs).toBe(1400);
  expect(waits.count()).toBe(1);
});

test('ends a wait within a second after its subscription is deleted, with no further statement', async () => {
  const [first, other] = [wait(), wait({ subscription: 2 })];
  await advance(400);
  deleted.add('1');
  await advance(1000);
  expect([first.endedAtMs, other.endedAtMs]).toEqual([1000, null]);
  expect(statements).toHaveLength(7);
});

test('asks with one statement in 200 ms for all, and with none while no request waits', async () => {
  for (let number = 0; number < 300; number += 1) wait({ account: number + 1, subscription: 1 + (number % 7) });
  await advance(1000);
  expect(statements).toEqual(Array.from({ length: 5 }, () => ['1', '2', '3', '4', '5', '6', '7']));
  await advance(20_000);
  expect(waits.count()).toBe(0);
  const asked = statements.length;
  await advance(5000);
  expect(statements).toHaveLength(asked);
  wait({ subscription: 9 });
  await advance(200);
  expect(statements.slice(asked)).toEqual([['9']]);
});

test('ends a wait at once if 10 requests of the account wait, or 500 of the process', async () => {
  const ofOne = Array.from({ length: 11 }, () => wait());
  await advance(1);
  expect(ofOne.map(({ endedAtMs }) => endedAtMs)).toEqual([...Array<null>(10).fill(null), 0]);
  ofOne[0]?.abort();
  await advance(0);
  expect(waits.count()).toBe(9);
  wait();
  for (let account = 2; waits.count() < 500; account += 1) wait({ account });
  const last = wait({ account: 9999 });
  await advance(1);
  expect([waits.count(), last.endedAtMs]).toEqual([500, 0]);
});

test('ends all waits when it closes, and later ones at once', async () => {
  const earlier = wait();
  await advance(100);
  waits.close();
  const later = wait();
  await advance(0);
  expect([earlier.endedAtMs, later.endedAtMs, waits.count()]).toEqual([100, 0, 0]);
});

test('goes on when a statement fails', async () => {
  const [one, short] = [wait(), wait({ subscription: 2, seconds: 1 })];
  isBroken = true;
  await advance(1900);
  expect([one.endedAtMs, short.endedAtMs]).toEqual([null, 1000]);
  isBroken = false;
  sequences.set('1', 1);
  await advance(200);
  expect(one.endedAtMs).toBe(2000);
});

test('keeps nothing of requests that come and go', async () => {
  for (let round = 0; round < 1000; round += 1) {
    const begun = Array.from({ length: 10 }, (_, account) => wait({ account: account + 1 + (round % 100) * 10 }));
    await advance(1);
    for (const { abort } of begun) abort();
  }
  await advance(1000);
  expect(waits.count()).toBe(0);
  // Of 10,000 requests. Code of other tests in this process can start a timer meanwhile.
  expect(vi.getTimerCount()).toBeLessThan(10);
});
