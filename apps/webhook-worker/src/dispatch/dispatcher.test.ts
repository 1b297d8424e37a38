import type { RecordId } from '@deedwire/domain';
import { createLogger } from '@deedwire/service-runtime';
import { StoreUnavailableError } from '@deedwire/store';
import type { DueDeliveryRow, LaneLease } from '@deedwire/store/webhook-dispatch';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { DispatchStore, Settlement } from './dispatch-store.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';

// Virtual time: `advance` runs what is due until then.
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(async () => {
  mode = 'up';
  for (const { answer } of inFlight) answer();
  const drained = dispatcher.drain();
  await advance(1_000);
  await drained;
  vi.useRealTimers();
});

interface InFlight {
  lane: LaneLease;
  id: string;
  /** Ends the attempt with success, or with a receiver that is gone. */
  answer: (goneUrl?: string) => void;
  fail: (error: Error) => void;
}

let dispatcher: Dispatcher;
let mode: 'up' | 'down' = 'up';
let inFlight: InFlight[];
let started: string[];
let maxInFlight: number;
let settled: Settlement[];
let released: string[];
/** Lanes that another owner has taken. */
let lost: Set<string>;
let due: Map<string, string[]>;
let held: Map<string, string>;
let nextDueInMs: number | null;
let leases: number;
let isRenewing: boolean;
/** What `take` waits for before it answers. */
let takeWaitsFor: Promise<void>;

const idsInFlight = () => inFlight.map(({ id }) => id);

// The dispatcher only compares ids; names make a failure readable.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const laneId = (name: string) => name as RecordId<'WebhookSubscription'>;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const deliveryIdOf = (name: string) => name as RecordId<'WebhookDelivery'>;

function row(subscriptionId: string, deliveryId: string): DueDeliveryRow {
  return {
    subscriptionId: laneId(subscriptionId),
    deliveryId: deliveryIdOf(deliveryId),
    attempts: 0,
    sequence: '1',
    eventType: 'referral.created',
    eventVersion: '2026-11-01',
    occurredAt: new Date(),
    requestId: null,
    body: Buffer.from('{}'),
    callbackUrl: 'https://receiver.example/',
    secretCiphertext: Buffer.alloc(0),
  };
}

function check(): void {
  if (mode === 'down') throw new StoreUnavailableError(new Error('down'));
}

function createFakeStore(): DispatchStore {
  let tokens = 0;
  return {
    async lease(limit) {
      check();
      leases += 1;
      return [...due]
        .filter(([lane, deliveries]) => deliveries.length > 0 && !held.has(lane) && !lost.has(lane))
        .slice(0, limit)
        .map(([subscriptionId]) => {
          const fencingToken = String((tokens += 1));
          held.set(subscriptionId, fencingToken);
          return { subscriptionId: laneId(subscriptionId), fencingToken };
        });
    },
    async renew(lanes) {
      check();
      if (!isRenewing) throw new StoreUnavailableError(new Error('down'));
      return lanes.filter(({ subscriptionId, fencingToken }) => held.get(subscriptionId) === fencingToken);
    },
    async take(lanes, excluded) {
      check();
      const rows = lanes.flatMap(({ subscriptionId, slots }) =>
        (due.get(subscriptionId) ?? [])
          .filter((id) => !excluded.includes(deliveryIdOf(id)))
          .slice(0, slots)
          .map((id) => row(subscriptionId, id)),
      );
      await takeWaitsFor;
      return rows;
    },
    async settle(settlements, lanes) {
      check();
      for (const settlement of settlements) {
        settled.push(settlement);
        const { subscriptionId } = settlement.lane;
        due.set(
          subscriptionId,
          (due.get(subscriptionId) ?? []).filter((id) => id !== settlement.deliveryId),
        );
      }
      for (const { subscriptionId } of lanes) {
        released.push(subscriptionId);
        held.delete(subscriptionId);
      }
      return [];
    },
    async nextDueInMs() {
      check();
      return nextDueInMs;
    },
  };
}

/** Lanes with deliveries that are due; delivery ids say whose they are. */
function start(lanes: Record<string, number>, concurrency = 100): void {
  due = new Map(
    Object.entries(lanes).map(([lane, count]) => [
      lane,
      Array.from({ length: count }, (_, index) => `${lane}${index}`),
    ]),
  );
  held = new Map();
  lost = new Set();
  inFlight = [];
  started = [];
  settled = [];
  released = [];
  maxInFlight = 0;
  leases = 0;
  isRenewing = true;
  nextDueInMs = null;
  takeWaitsFor = Promise.resolve();
  dispatcher = createDispatcher({
    store: createFakeStore(),
    concurrency,
    logger: createLogger({ name: 'test', level: 'silent' }),
    now: () => new Date(),
    monotonicMs: () => Date.now(),
    random: () => 0,
    attempt(lane, delivery) {
      const id = delivery.deliveryId;
      started.push(id);
      maxInFlight = Math.max(maxInFlight, inFlight.length + 1);
      return new Promise((resolve, reject) => {
        const end = (): void => void (inFlight = inFlight.filter((other) => other !== attempt));
        const attempt: InFlight = {
          lane,
          id,
          answer(goneUrl) {
            end();
            const next = { kind: 'finished', status: 'DELIVERED' } as const;
            resolve({ lane, deliveryId: id, attempt: null, next, goneUrl: goneUrl ?? null });
          },
          fail(error) {
            end();
            reject(error);
          },
        };
        inFlight.push(attempt);
      });
    },
  });
  dispatcher.wake();
}

test('a lane sends at most 16 at the same time', async () => {
  start({ a: 40 });
  await advance(10);
  expect(inFlight).toHaveLength(16);
  while (settled.length < 40) {
    inFlight[0]?.answer();
    await advance(10);
  }
  expect(maxInFlight).toBe(16);
  expect(new Set(started).size).toBe(40);
  expect(started).toHaveLength(40);
});

test('no more are under way than the process may have, what is not written yet and the reserve included', async () => {
  start({ a: 20, b: 20, c: 20 }, 12);
  await advance(10);
  expect(inFlight).toHaveLength(9);
  mode = 'down';
  for (const { answer } of inFlight) answer();
  await advance(1_000);
  expect(dispatcher.inFlight()).toBe(9);
  expect(started).toHaveLength(9);
  mode = 'up';
  while (settled.length < 60) {
    await advance(5_000);
    for (const { answer } of inFlight) answer();
  }
  expect(maxInFlight).toBe(9);
  expect(started).toHaveLength(60);
});

test('the reserve is there for a lane that comes when others hang', async () => {
  start({ a: 20, b: 20, c: 1, d: 1, e: 1, f: 1 }, 8);
  await advance(10);
  // First one each, then the others up to three quarters.
  expect(new Set(idsInFlight().map((id) => id[0]))).toEqual(new Set(['a', 'b', 'c', 'd', 'e', 'f']));
  expect(inFlight).toHaveLength(6);
});

test('lanes take turns: two backlogs do not keep the slots', async () => {
  start({ a: 100, b: 100, c: 3 }, 2);
  await advance(10);
  for (let round = 0; round < 8; round += 1) {
    for (const { answer } of inFlight) answer();
    await advance(10);
  }
  expect(settled.filter(({ deliveryId }) => deliveryId.startsWith('c'))).toHaveLength(3);
});

test('what cannot be written is kept, sent to nobody again, and written once the store is back', async () => {
  start({ a: 3 });
  await advance(10);
  mode = 'down';
  for (const { answer } of inFlight) answer();
  await advance(3_000);
  expect(settled).toEqual([]);
  mode = 'up';
  await advance(5_000);
  expect(settled.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(['a0', 'a1', 'a2']);
  expect(started).toHaveLength(3);
  expect(dispatcher.inFlight()).toBe(0);
});

test('a lane that is lost at renewal starts nothing more; what is under way is still offered for writing', async () => {
  start({ a: 20, b: 1 });
  await advance(10);
  expect(idsInFlight().filter((id) => id.startsWith('a'))).toHaveLength(16);
  held.set('a', 'of another');
  lost.add('a');
  await advance(4_000);
  for (const { id, answer } of inFlight) if (id.startsWith('a')) answer();
  await advance(100);
  expect(settled).toHaveLength(16);
  expect(started.filter((id) => id.startsWith('a'))).toHaveLength(16);
  expect(idsInFlight()).toEqual(['b0']);
});

test('a lane is renewed for as long as it takes, and started on all the while', async () => {
  start({ a: 40 });
  await advance(60_000);
  inFlight[0]?.answer();
  await advance(10);
  expect(started).toHaveLength(17);
});

test('without a renewal nothing is started once less than an attempt takes is left of the lease', async () => {
  start({ a: 40 });
  await advance(3_900);
  // Only renewing fails: what ends is written, and asks for more.
  isRenewing = false;
  await advance(4_500);
  inFlight[0]?.answer();
  await advance(10);
  expect(started).toHaveLength(17);
  await advance(200);
  inFlight[0]?.answer();
  await advance(10);
  expect(settled).toHaveLength(2);
  expect(started).toHaveLength(17);
  isRenewing = true;
  await advance(6_000);
  expect(started).toHaveLength(18);
});

test('what the store answers after the lease has run short is not sent', async () => {
  start({ a: 1 });
  const answer = Promise.withResolvers<void>();
  takeWaitsFor = answer.promise;
  await advance(0);
  // The process stood still: time passed, but no timer ran.
  vi.setSystemTime(Date.now() + 14_000);
  answer.resolve();
  takeWaitsFor = Promise.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([]);
  // The next renewal holds the lane again, and then it is sent.
  await advance(8_000);
  expect(started).toEqual(['a0']);
});

test('an attempt that throws counts as a failed one, alone, and keeps no slot', async () => {
  start({ a: 3 }, 3);
  await advance(10);
  const [broken, ...others] = inFlight;
  broken?.fail(new Error('a bug'));
  for (const { answer } of others) answer();
  await advance(100);
  expect(settled.find(({ deliveryId }) => deliveryId === broken?.id)).toMatchObject({
    attempt: { number: 1, responseStatus: null, error: 'PROTOCOL_ERROR' },
    next: { kind: 'due', attempts: 1 },
  });
  expect(settled).toHaveLength(3);
  expect(dispatcher.inFlight()).toBe(0);
  expect(released).toEqual(['a']);
});

test('a lane with nothing more to send is given back, one with more is kept', async () => {
  start({ a: 1, b: 40 });
  await advance(10);
  for (const { id, answer } of inFlight) if (id === 'a0' || id === 'b0') answer();
  await advance(10);
  expect(released).toEqual(['a']);
});

test('a lane whose receiver is gone is given back at once, and sends nothing more', async () => {
  start({ a: 40 });
  await advance(10);
  // As the store does when it pauses a subscription.
  lost.add('a');
  inFlight[0]?.answer('https://receiver.example/');
  await advance(10);
  expect(released).toEqual(['a']);
  for (const { answer } of inFlight) answer();
  await advance(10);
  expect(settled).toHaveLength(16);
  expect(started).toHaveLength(16);
});

test('it looks again when the next lane is due', async () => {
  start({});
  nextDueInMs = 5_000;
  dispatcher.wake();
  await advance(10);
  due.set('a', ['a0']);
  await advance(4_900);
  expect(started).toEqual([]);
  await advance(200);
  expect(started).toEqual(['a0']);
});

test('what is due in the hands of others makes nobody spin', async () => {
  start({});
  nextDueInMs = -100;
  dispatcher.wake();
  await advance(1_000);
  expect(leases).toBeGreaterThan(10);
  expect(leases).toBeLessThan(60);
});

test('after stopping nothing is taken, also not what the store was asked for before', async () => {
  start({ a: 5 });
  const answer = Promise.withResolvers<void>();
  takeWaitsFor = answer.promise;
  await advance(0);
  dispatcher.stopTaking();
  answer.resolve();
  dispatcher.wake();
  await advance(1_000);
  expect(started).toEqual([]);
});

test('draining waits for what is under way, writes it, and gives every lane back', async () => {
  start({ a: 20, b: 1 });
  await advance(10);
  let isDrained = false;
  const draining = dispatcher.drain().then(() => (isDrained = true));
  await advance(4_000);
  expect(isDrained).toBe(false);
  for (const { answer } of inFlight) answer();
  await advance(100);
  await draining;
  expect(settled).toHaveLength(17);
  expect(started).toHaveLength(17);
  expect(released.toSorted()).toEqual(['a', 'b']);
  expect(vi.getTimerCount()).toBe(0);
});
