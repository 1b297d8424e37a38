import type { RecordId } from '@deedwire/domain';
import type { Logger } from '@deedwire/service-runtime';
import type { DueDeliveryRow, LaneLease } from '@deedwire/store/webhook-dispatch';
import { createLoop } from '../loop.ts';
import { allotSlots } from './allot-slots.ts';
import { brokenAttempt } from './attempt.ts';
import { laneKey, type DispatchStore, type Settlement } from './dispatch-store.ts';

/** How long a lane is held without a word from its owner: so long do its deliveries wait when the owner dies. */
export const leaseSeconds = 15;

// An attempt takes up to 5 s and has to be settled after that: with less of the lease left it is not started.
const leaseLeftToStartMs = 6_500;

// Renewed well before attempts can no longer be started.
const renewIntervalMs = 4_000;

// How many requests one receiver gets at the same time.
const laneConcurrency = 16;

// The part of all slots that only lanes with nothing under way get. An account has at most 20 subscriptions: when the
// receivers of one hang, the others still get theirs.
const reservedForFirst = 0.25;

// What ends within this time is written together.
const settleDelayMs = 3;

// The next turn is planned at least so far ahead, so that what is due but in other hands makes nobody spin, and at most so
// far, since a timer cannot be set for months.
const nextTurnMinMs = 20;
const nextTurnMaxMs = 60_000;

export interface DispatcherOptions {
  store: DispatchStore;
  /** Sends a delivery once and says what to write. */
  attempt: (lane: LaneLease, delivery: DueDeliveryRow) => Promise<Settlement>;
  /** How many requests may be under way at the same time. */
  concurrency: number;
  logger: Logger;
  now: () => Date;
  /** Milliseconds that only grow, also while the process is stopped. */
  monotonicMs: () => number;
  /** 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

export interface Dispatcher {
  /** Something may be due. */
  wake(): void;
  /** Takes nothing new. */
  stopTaking(): void;
  /** Settles when what is under way has ended and is written, and every lane is given back. */
  drain(): Promise<void>;
  /** How many requests are under way or not written yet. */
  inFlight(): number;
}

interface HeldLane {
  lease: LaneLease;
  leaseEndsAtMs: number;
  /** Under way or not written yet. */
  inFlight: Set<RecordId<'WebhookDelivery'>>;
  /** When it was last asked, nothing more was due than it had slots for. */
  isIdle: boolean;
}

interface EndedAttempt {
  lane: HeldLane;
  settlement: Settlement;
}

/**
 * Leases lanes, takes what is due in them, has it sent, and writes what became of it.
 *
 * What is in flight is known to this process alone, and what ends is written under the lane's fencing token. When the
 * process dies, the lease runs out and another owner sends again whatever was not written: at least once, never lost.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, attempt, concurrency, logger, monotonicMs } = options;
  const lanes = new Map<RecordId<'WebhookSubscription'>, HeldLane>();
  const inFlight = new Set<RecordId<'WebhookDelivery'>>();
  const sends = new Set<Promise<void>>();
  let ended: EndedAttempt[] = [];
  let toRelease: LaneLease[] = [];
  let isTaking = true;
  let settleTimer: NodeJS.Timeout | undefined;
  let turnTimer: NodeJS.Timeout | undefined;

  const turn = createLoop('dispatch', logger, async () => {
    if (!isTaking) return;
    await lease();
    const started = await take();
    // Whatever is under way wakes the next turn when it is written.
    if (started === 0 && inFlight.size < concurrency) await planNextTurn();
  });

  async function lease(): Promise<void> {
    const free = concurrency - inFlight.size;
    if (free <= 0) return;
    const leaseEndsAtMs = monotonicMs() + leaseSeconds * 1_000;
    for (const leased of await store.lease(free)) {
      lanes.set(leased.subscriptionId, { lease: leased, leaseEndsAtMs, inFlight: new Set(), isIdle: false });
    }
  }

  async function take(): Promise<number> {
    const asked = dealSlots();
    if (asked.length === 0) return 0;
    const request = asked.map(({ lane, slots }) => ({ subscriptionId: lane.lease.subscriptionId, slots }));
    const rows = await store.take(request, [...inFlight]);
    if (!isTaking) return 0;
    const due = Map.groupBy(rows, (row) => row.subscriptionId);
    let started = 0;
    for (const { lane, slots } of asked) {
      // It may have been given back, lost, or held for too long while the store answered: then these are not ours to send.
      if (!isHeld(lane) || !canStart(lane)) continue;
      const deliveries = due.get(lane.lease.subscriptionId) ?? [];
      lane.isIdle = deliveries.length < slots;
      for (const delivery of deliveries) start(lane, delivery);
      started += deliveries.length;
      if (lane.isIdle && lane.inFlight.size === 0) release(lane);
      else moveToEnd(lane);
    }
    return started;
  }

  function dealSlots(): { lane: HeldLane; slots: number }[] {
    const startable = [...lanes.values()].filter(canStart);
    const requests = startable.map((lane) => ({ inFlight: lane.inFlight.size, cap: laneConcurrency }));
    const reserved = Math.floor(concurrency * reservedForFirst);
    const slots = allotSlots(requests, concurrency - inFlight.size, reserved);
    return startable.map((lane, index) => ({ lane, slots: slots[index] ?? 0 })).filter((dealt) => dealt.slots > 0);
  }

  function canStart(lane: HeldLane): boolean {
    return lane.leaseEndsAtMs - monotonicMs() > leaseLeftToStartMs;
  }

  /** The next slots are dealt to the others first. */
  function moveToEnd(lane: HeldLane): void {
    lanes.delete(lane.lease.subscriptionId);
    lanes.set(lane.lease.subscriptionId, lane);
  }

  function isHeld(lane: HeldLane): boolean {
    return lanes.get(lane.lease.subscriptionId) === lane;
  }

  function start(lane: HeldLane, delivery: DueDeliveryRow): void {
    const deliveryId = delivery.deliveryId;
    lane.inFlight.add(deliveryId);
    inFlight.add(deliveryId);
    const work = send(lane, delivery);
    sends.add(work);
    void work.finally(() => sends.delete(work));
  }

  async function send(lane: HeldLane, delivery: DueDeliveryRow): Promise<void> {
    let settlement: Settlement;
    try {
      settlement = await attempt(lane.lease, delivery);
    } catch (error) {
      // A bug. It counts like any other failure: the delivery fails alone, after its attempts, and keeps no slot.
      logger.error({ err: error, deliveryId: delivery.deliveryId, alarm: 'attempt-broken' }, 'attempt not made');
      settlement = brokenAttempt(options, lane.lease, delivery);
    }
    ended.push({ lane, settlement });
    settleTimer ??= setTimeout(() => settle.wake(), settleDelayMs);
  }

  const settle = createLoop('settle', logger, async () => {
    settleTimer = undefined;
    const batch = ended;
    ended = [];
    for (const lane of new Set(batch.map((end) => end.lane))) {
      const batchSize = batch.filter((end) => end.lane === lane).length;
      const isPaused = batch.some((end) => end.lane === lane && end.settlement.goneUrl !== null);
      if (isHeld(lane) && (isPaused || (lane.isIdle && lane.inFlight.size === batchSize))) release(lane);
    }
    const released = toRelease;
    toRelease = [];
    if (batch.length === 0 && released.length === 0) return;
    try {
      const leftOut = await store.settle(
        batch.map(({ settlement }) => settlement),
        released,
      );
      if (leftOut.length > 0) {
        logger.warn({ deliveryIds: leftOut }, 'another owner has taken the lane: attempts not recorded');
      }
    } catch (error) {
      // Kept, and written when the store is back, unless another owner has taken the lane by then.
      ended = [...batch, ...ended];
      toRelease = [...released, ...toRelease];
      throw error;
    }
    for (const { lane, settlement } of batch) {
      lane.inFlight.delete(settlement.deliveryId);
      inFlight.delete(settlement.deliveryId);
    }
    turn.wake();
  });

  /** Lets others have the lane. No attempt starts on it from now on; those under way are still written. */
  function release(lane: HeldLane): void {
    lanes.delete(lane.lease.subscriptionId);
    toRelease.push(lane.lease);
    settleTimer ??= setTimeout(() => settle.wake(), settleDelayMs);
  }

  async function planNextTurn(): Promise<void> {
    clearTimeout(turnTimer);
    const dueInMs = await store.nextDueInMs();
    if (dueInMs === null || !isTaking) return;
    const delayMs = Math.min(Math.max(dueInMs, nextTurnMinMs), nextTurnMaxMs);
    turnTimer = setTimeout(() => turn.wake(), delayMs);
  }

  const renew = createLoop('renew', logger, async () => {
    const held = [...lanes.values()];
    if (held.length === 0) return;
    const leaseEndsAtMs = monotonicMs() + leaseSeconds * 1_000;
    const renewed = new Set((await store.renew(held.map((lane) => lane.lease))).map(laneKey));
    for (const lane of held) {
      if (renewed.has(laneKey(lane.lease))) lane.leaseEndsAtMs = leaseEndsAtMs;
      else if (isHeld(lane)) lanes.delete(lane.lease.subscriptionId);
    }
    turn.wake();
  });
  const renewTimer = setInterval(() => renew.wake(), renewIntervalMs);

  function stopTaking(): void {
    isTaking = false;
    clearTimeout(turnTimer);
  }

  return {
    wake: () => turn.wake(),
    stopTaking,
    async drain() {
      stopTaking();
      await turn.stop();
      await Promise.all(sends);
      clearInterval(renewTimer);
      clearTimeout(settleTimer);
      await Promise.all([renew.stop(), settle.stop()]);
      // The last word: what the loop had not come to, and every lane.
      const leases = [...toRelease, ...Array.from(lanes.values(), (lane) => lane.lease)];
      await store.settle(
        ended.map(({ settlement }) => settlement),
        leases,
        { isLast: true },
      );
    },
    inFlight: () => inFlight.size,
  };
}
