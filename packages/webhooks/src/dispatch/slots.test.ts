import { describe, expect, test } from 'vitest';
import { SlotAccount, SlotLane, Slots } from './slots.ts';

class TestLane extends SlotLane {
  override readonly account: SlotAccount;
  override isQuick: boolean;
  override hasEnded = true;

  constructor(isQuick: boolean, account = new SlotAccount()) {
    super();
    this.account = account;
    this.isQuick = isQuick;
  }
}

/** Lets lanes with endless backlogs start as many requests as possible. Returns the number of started requests per lane. */
function fill(slots: Slots<TestLane>, lanes: readonly TestLane[], window = 16): number[] {
  const before = lanes.map(({ inFlight }) => inFlight);
  for (const lane of lanes) if (lane.inFlight < window) slots.request(lane);
  for (let lane = slots.next(); lane !== null; lane = slots.next()) {
    slots.acquire(lane);
    if (lane.inFlight < window) slots.request(lane);
  }
  return lanes.map(({ inFlight }, index) => inFlight - (before[index] ?? 0));
}

const lanesOf = (count: number, isQuick: boolean): TestLane[] =>
  Array.from({ length: count }, () => new TestLane(isQuick));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('the quarter rule', () => {
  test('makes slow lanes leave five sixteenths of the slots free, and quick lanes a quarter', () => {
    const slots = new Slots<TestLane>(2_000);
    expect(sum(fill(slots, lanesOf(500, false)))).toBe(1_375);
    expect(fill(slots, [new TestLane(true), new TestLane(true)], 100)).toEqual([63, 62]);
  });

  test('lets each quick lane use one slot of the last quarter', () => {
    const slots = new Slots<TestLane>(2_000);
    fill(slots, lanesOf(500, false));
    fill(slots, lanesOf(125, true), 1);
    expect(fill(slots, lanesOf(3, true))).toEqual([1, 1, 1]);
    expect(sum(fill(slots, lanesOf(1_000, true)))).toBe(497);
    expect(slots.inFlight).toBe(2_000);
  });
});

describe('the share of an account', () => {
  test('passes from lane to lane as requests end, to the lane with the least slot-time', () => {
    const slots = new Slots(64);
    const account = new SlotAccount();
    const [busy, idle] = [new TestLane(true, account), new TestLane(true, account)];
    fill(slots, [busy], 5);
    expect(busy.inFlight).toBe(5);
    slots.request(idle);
    slots.acquire(idle);
    slots.request(busy);
    slots.request(idle);
    expect(slots.next()).toBeNull();
    slots.release(busy, 5_000, 1);
    expect(slots.next()).toBe(idle);
  });

  test('passes to the blocked lane with the least slot-time, not to the one that waits longest', () => {
    const slots = new Slots<TestLane>(64);
    const account = new SlotAccount();
    const [holder, busy, idle] = [
      new TestLane(true, account),
      new TestLane(true, account),
      new TestLane(true, account),
    ];
    fill(slots, [busy], 2);
    fill(slots, [idle], 1);
    slots.release(busy, 5_000, 1);
    fill(slots, [holder], 5);
    slots.request(busy);
    slots.request(idle);
    expect(slots.next()).toBeNull();
    slots.release(holder, 10, 1);
    expect(slots.next()).toBe(idle);
  });

  test('does not block lanes without a request in flight', () => {
    const slots = new Slots(64);
    const account = new SlotAccount();
    const busy = new TestLane(true, account);
    fill(slots, [busy]);
    const idle = new TestLane(true, account);
    expect(fill(slots, [idle], 1)).toEqual([1]);
  });

  test('is used by another lane when a blocked lane withdraws', () => {
    const slots = new Slots(64);
    const account = new SlotAccount();
    const [first, second, third] = [0, 1, 2].map(() => new TestLane(true, account));
    if (first === undefined || second === undefined || third === undefined) throw new Error('No lanes.');
    fill(slots, [first, second, third], 1);
    fill(slots, [first], 5);
    slots.request(second);
    slots.request(third);
    slots.release(first, 10, 1);
    const woken = slots.next();
    expect(woken).not.toBeNull();
    if (woken !== null) slots.withdraw(woken);
    expect(slots.next()).toBe(woken === second ? third : second);
  });
});

describe('slot-time', () => {
  test('gives equal slot-time to lanes with requests of different duration', () => {
    const slots = new Slots(16);
    const [fast, slow] = [new TestLane(false), new TestLane(false)];
    const durations = new Map([
      [fast, 100],
      [slow, 400],
    ]);
    const usedMs = new Map([
      [fast, 0],
      [slow, 0],
    ]);
    // Slow lanes can use one more slot, so that requests run one after another.
    fill(slots, lanesOf(10, false), 1);
    for (const lane of [fast, slow]) slots.request(lane);
    for (let turn = 0; turn < 1_000; turn += 1) {
      const lane = slots.next();
      if (lane === null) throw new Error('No lane may start.');
      const durationMs = durations.get(lane) ?? 0;
      slots.release(lane, durationMs, slots.acquire(lane));
      usedMs.set(lane, (usedMs.get(lane) ?? 0) + durationMs);
      slots.request(lane);
    }
    expect((usedMs.get(fast) ?? 0) / (usedMs.get(slow) ?? 1)).toBeCloseTo(1, 1);
  });

  test('gives no credit for idle time', () => {
    const slots = new Slots(64);
    const [busy, idle] = [new TestLane(false), new TestLane(false)];
    for (let turn = 0; turn < 100; turn += 1) {
      slots.request(busy);
      slots.release(busy, 1_000, slots.acquire(busy));
    }
    const order: TestLane[] = [];
    slots.request(busy);
    slots.request(idle);
    for (let turn = 0; turn < 6; turn += 1) {
      const lane = slots.next();
      if (lane === null) throw new Error('No lane may start.');
      order.push(lane);
      slots.release(lane, 1_000, slots.acquire(lane));
      slots.request(lane);
    }
    expect(order.filter((lane) => lane === busy).length).toBeGreaterThanOrEqual(2);
  });

  test('does not put an idle lane behind lanes that wait for more than the last quarter', () => {
    const slots = new Slots<TestLane>(16);
    fill(slots, lanesOf(11, false), 1);
    const [waiting, busy, idle] = [new TestLane(false), new TestLane(true), new TestLane(false)];
    slots.request(waiting);
    for (let turn = 0; turn < 10; turn += 1) {
      slots.request(busy);
      slots.release(busy, 1_000, slots.acquire(busy));
    }
    slots.request(idle);
    expect(idle.slotTimeMs).toBe(waiting.slotTimeMs);
  });

  test('charges a request its duration in the end', () => {
    const slots = new Slots(64);
    const lane = new TestLane(true);
    for (const durationMs of [5_000, 10, 300, 5_000]) {
      slots.request(lane);
      slots.release(lane, durationMs, slots.acquire(lane));
    }
    expect(lane.slotTimeMs).toBe(10_310);
  });
});

const withoutHistory = (count: number): TestLane[] =>
  lanesOf(count, true).map((lane) => Object.assign(lane, { hasEnded: false }));

/** Starts requests one after another, each of 200 ms. The known lanes always have a next one. */
function startInTurn(slots: Slots<TestLane>, known: readonly TestLane[], requests: number): TestLane[] {
  return Array.from({ length: requests }, () => {
    for (const lane of known) slots.request(lane);
    const lane = slots.next();
    if (lane === null) throw new Error('No lane may start.');
    slots.release(lane, 200, slots.acquire(lane));
    return lane;
  });
}

describe('lanes without history', () => {
  test('do not delay a lane with history, however many they are', () => {
    const slots = new Slots<TestLane>(2_000);
    const [known] = lanesOf(1, true);
    if (known === undefined) throw new Error('No lane.');
    for (const lane of withoutHistory(1_000)) slots.request(lane);
    const started = startInTurn(slots, [known], 40);
    expect(started.filter((lane) => lane === known)).toHaveLength(30);
  });
});

test('a quick lane that waits for a further slot may use the last quarter once its request has ended', () => {
  const slots = new Slots<TestLane>(16);
  const quick = new TestLane(true);
  slots.request(quick);
  const chargedMs = slots.acquire(quick);
  fill(slots, lanesOf(11, true), 1);
  slots.request(quick);
  expect(slots.next()).toBeNull();
  slots.release(quick, 20, chargedMs);
  // Another quick lane acquires the slot that has become free, so that only a quarter is free again.
  const other = new TestLane(true);
  slots.request(other);
  slots.acquire(other);
  expect(slots.next()).toBe(quick);
});
