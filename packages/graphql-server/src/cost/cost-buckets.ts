import type { CostLimit } from '@deedwire/auth';
import { StoreUnavailableError } from '@deedwire/store';
import type { CostSettlement, CostSettlementRow } from '@deedwire/store/cost-buckets';
import { LRUCache } from 'lru-cache';
import type { Admission, Charge, CostBuckets, Rejection } from './bucket.ts';
import {
  availablePoints,
  type ClientPoints,
  msUntilAvailable,
  newClientPoints,
  receive,
  reservePoints,
  spend,
  throttleStatusOf,
} from './client-points.ts';

/** How a charge was decided. `held`: without the database. `settled`: after a settlement. `alone`: the database responded late, or not. */
export type ChargeBasis = 'held' | 'settled' | 'alone';

export interface CostBucketsOptions {
  /**
   * Settles the shared bucket of a client. Null if the client does not exist. Rejects when the database does not respond in time:
   * charges wait until it has ended.
   */
  settle: (clientId: string, settlement: CostSettlement) => Promise<CostSettlementRow | null>;
  /** How long a charge waits for a settlement before this process spends points in advance. Defaults to 50. */
  waitMs?: number;
  /**
   * As `waitMs`, for the first charge of a client in this process, which knows nothing about its bucket. Defaults to 500.
   */
  firstWaitMs?: number;
  /** How long a charge waits for refunds of earlier ones before it is rejected. Defaults to 100. */
  refundWaitMs?: number;
  /** Points that were not used for this long return to the shared bucket. Defaults to 10,000. */
  idleMs?: number;
  /** The maximum number of clients whose points this process holds. Defaults to 10,000. */
  maxClients?: number;
  /** A monotonic clock in milliseconds. */
  monotonicMs?: () => number;
  /** Called for each charge. Must not throw. */
  onCharge?: (charge: { points: number; admitted: boolean; basis: ChargeBasis }) => void;
  /** Called for each refund. Must not throw. */
  onRefund?: (points: number) => void;
  /** Called after each settlement. Must not throw. */
  onSettled?: (result: 'succeeded' | 'failed', error?: unknown) => void;
}

interface Decision {
  admitted: boolean;
  basis: ChargeBasis;
}

interface Waiter {
  points: number;
  decide: (admitted: boolean, basis: ChargeBasis) => void;
  fail: (error: Error) => void;
}

/** A charge that is rejected unless a refund comes in time. */
interface RefundWaiter {
  points: number;
  resume: () => void;
}

interface Client extends ClientPoints {
  id: string;
  usedAtMs: number;
  /** The start of the last settlement that succeeded. Null before the first one. */
  settledAtMs: number | null;
  isSettling: boolean;
  /** Charges that wait for the next settlement, oldest first. */
  waiters: Set<Waiter>;
  /** The admitted charges of this process that may still be refunded. */
  open: number;
  refundWaiters: Set<RefundWaiter>;
  /** Before this time, a charge beyond the known points is rejected without a settlement. */
  rejectUntilMs: number;
  /** Before this time, nothing is settled in the background. */
  quietUntilMs: number;
}

/** How long a settlement that granted too little counts. Limits how often a rejected client causes a write. */
const rejectForMs = 50;
const retryAfterFailureMs = 250;

/**
 * The buckets of all clients. Each process takes points from the shared bucket of a client in advance, at most those that the
 * client regains in half a second, and spends them without the database. It takes more in the background when half of them are
 * spent. Only a charge of more points than the process holds waits for a settlement. While a settlement is late, charges that the
 * process can pay in advance are admitted, and the others wait until it has ended. If it fails, they fail too.
 *
 * Operations are charged their largest price and refunded the rest, so a client that runs several at a time seems to have fewer
 * points than it has. A charge is rejected only once no refund has come in time.
 */
export function createCostBuckets(options: CostBucketsOptions): CostBuckets {
  const { settle, onCharge, onRefund, onSettled } = options;
  const { waitMs = 50, firstWaitMs = 500, refundWaitMs = 100, idleMs = 10_000, maxClients = 10_000 } = options;
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const clients = new LRUCache<string, Client>({ max: maxClients, dispose: forget });

  function clientOf(id: string, limit: CostLimit, nowMs: number): Client {
    let client = clients.get(id);
    if (!client) clients.set(id, (client = newClient(id, limit)));
    if (!isSame(client.limit, limit)) {
      client.limit = limit;
      receive(client, 0); // a lower limit
    }
    client.usedAtMs = nowMs;
    return client;
  }

  function forget(client: Client): void {
    client.usedAtMs = -Infinity; // takes no more points
    returnHeld(client);
  }

  /** A client has one settlement at a time, so that charges that wait share the next one. */
  async function settleClient(client: Client): Promise<void> {
    const sentMs = monotonicMs();
    const served = [...client.waiters];
    const costs = served.map(({ points }) => points);
    client.isSettling = true;
    client.settling = client.owed + Math.min(0, client.held);
    client.owed = 0;
    client.held = Math.max(0, client.held);
    const needed = Math.ceil(Math.max(0, costs.reduce((sum, cost) => sum + cost, 0) - client.held));
    // Background settlements fill up what is held; others also leave that much after the charges.
    const kept = served.length === 0 ? client.held : 0;
    const spare = isIdle(client, sentMs) ? 0 : Math.floor(Math.max(0, reservePoints(client) - kept));
    try {
      const settled = await settle(client.id, {
        change: client.settling,
        needed,
        least: served.length === 0 ? 0 : Math.ceil(Math.max(0, Math.min(...costs) - client.held)),
        spare,
        // The first time, only the clock of the database counts: the bucket may have restored points before this process started.
        elapsedSeconds: client.settledAtMs === null ? Infinity : (sentMs - client.settledAtMs) / 1000,
      });
      if (settled === null) throw new Error(`The client ${client.id} does not exist.`);
      const nowMs = monotonicMs();
      client.settling = 0;
      client.settledAtMs = sentMs;
      client.shared = { points: settled.points, atMs: nowMs };
      client.held += settled.granted;
      client.isLate = false;
      serve(client, served, nowMs);
      receive(client, 0);
      if (settled.granted < needed + spare) client.quietUntilMs = nowMs + rejectForMs;
      onSettled?.('succeeded');
    } catch (error) {
      // The settlement may have been committed. Points that are returned twice would be created, so they are lost instead.
      client.owed += Math.min(0, client.settling);
      client.settling = 0;
      client.quietUntilMs = monotonicMs() + retryAfterFailureMs;
      onSettled?.('failed', error);
      admitLate(client);
      for (const { fail } of client.waiters) fail(new StoreUnavailableError(error));
      client.waiters.clear();
    }
    client.isSettling = false;
    if (client.waiters.size > 0 || (client.owed >= 1 && !client.isLate)) void settleClient(client);
  }

  /** Admits a charge if the process holds enough points. */
  function admit(client: Client, points: number): boolean {
    const isPaid = spend(client, points, monotonicMs());
    if (isPaid) client.open += 1;
    return isPaid;
  }

  /** Decides the charges of the settlement, and later ones that the process now holds enough points for. */
  function serve(client: Client, served: readonly Waiter[], nowMs: number): void {
    for (const waiter of served) {
      if (!client.waiters.delete(waiter)) continue; // it stopped waiting
      const admitted = admit(client, waiter.points);
      if (!admitted) client.rejectUntilMs = nowMs + rejectForMs;
      waiter.decide(admitted, 'settled');
    }
    for (const waiter of client.waiters) {
      if (!admit(client, waiter.points)) return;
      client.waiters.delete(waiter);
      waiter.decide(true, 'settled');
    }
  }

  /** Rejects a charge, unless refunds of earlier ones suffice for it in time. Null if they do. */
  async function rejectUnlessRefunded(
    client: Client,
    points: number,
    retryPoints: number,
    deadlineMs: number,
  ): Promise<Rejection | null> {
    for (let isLate = false; ;) {
      const nowMs = monotonicMs();
      if (points <= availablePoints(client, nowMs)) return null;
      if (client.open === 0 || isLate || nowMs >= deadlineMs) return rejection(client, retryPoints, nowMs);
      isLate = await isLateFor(client, points, deadlineMs - nowMs);
    }
  }

  /** Resolves when refunds may suffice for a charge, or when none is left to wait for. True if that takes too long. */
  function isLateFor(client: Client, points: number, maxMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (isLate: boolean): void => {
        clearTimeout(timer);
        client.refundWaiters.delete(waiter);
        resolve(isLate);
      };
      const waiter: RefundWaiter = { points, resume: () => stop(false) };
      const timer = setTimeout(() => stop(true), maxMs);
      client.refundWaiters.add(waiter);
    });
  }

  /** Resumes the charges that the client now has points for, oldest first. */
  function announceRefund(client: Client, nowMs: number): void {
    if (client.refundWaiters.size === 0) return;
    let available = availablePoints(client, nowMs);
    for (const waiter of client.refundWaiters) {
      if (waiter.points > available) continue;
      available -= waiter.points;
      waiter.resume();
    }
  }

  /** Admits waiting charges while the shared bucket does not respond, as far as the points of this process suffice. */
  function admitLate(client: Client): void {
    client.isLate = true;
    for (const waiter of client.waiters) {
      if (!admit(client, waiter.points)) continue;
      client.waiters.delete(waiter);
      waiter.decide(true, 'alone');
    }
  }

  /** Settles in the background, to return points or before they run out. */
  function settleAhead(client: Client, nowMs: number): void {
    if (client.isSettling) return;
    const { isLate } = client;
    const isLow = client.held < reservePoints(client) / 2;
    if ((client.owed >= 1 && !isLate) || ((isLate || isLow) && nowMs >= client.quietUntilMs)) void settleClient(client);
  }

  const isIdle = (client: Client, nowMs: number): boolean => nowMs - client.usedAtMs >= idleMs;

  function returnHeld(client: Client): void {
    client.owed += client.held;
    client.held = 0;
    if (client.owed !== 0 && !client.isSettling) void settleClient(client);
  }

  function settlementFor(client: Client, points: number): Promise<Decision> {
    if (client.isLate && !client.isSettling && monotonicMs() < client.quietUntilMs) {
      onCharge?.({ points, admitted: false, basis: 'alone' });
      throw new StoreUnavailableError(new Error('The last settlement of the cost bucket has just failed.'));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          // The response may be in the socket already, if this process was busy.
          setImmediate(() => {
            if (client.waiters.has(waiter)) admitLate(client);
          });
        },
        client.settledAtMs === null ? firstWaitMs : waitMs,
      );
      const waiter: Waiter = {
        points,
        decide(admitted, basis) {
          clearTimeout(timer);
          resolve({ admitted, basis });
        },
        fail(error) {
          clearTimeout(timer);
          onCharge?.({ points, admitted: false, basis: 'alone' });
          reject(error);
        },
      };
      client.waiters.add(waiter);
      if (!client.isSettling) void settleClient(client);
    });
  }

  /**
   * Decides a charge without a settlement. Null if it must wait for one: the process holds too few points, or charges that
   * wait need them. Charges that wait while the bucket cannot be reached need more points than the process has, and delay
   * no others.
   */
  function decideAtOnce(client: Client, points: number, nowMs: number): Decision | null {
    const { isLate } = client;
    if ((isLate || client.waiters.size === 0) && admit(client, points))
      return { admitted: true, basis: isLate ? 'alone' : 'held' };
    return isRejected(client, points, nowMs) ? { admitted: false, basis: 'held' } : null;
  }

  /** Whether a settlement has just shown that there are fewer points. */
  function isRejected(client: Client, points: number, nowMs: number): boolean {
    return !client.isLate && nowMs < client.rejectUntilMs && points > availablePoints(client, nowMs);
  }

  function rejection(client: Client, retryPoints: number, nowMs: number): Rejection {
    return {
      admitted: false,
      throttleStatus: throttleStatusOf(client, nowMs),
      retryAfterMs: msUntilAvailable(client, retryPoints, nowMs),
    };
  }

  /** Waits for the database, or for refunds. `atOnce` is null if nothing was decided yet. */
  async function admitLater(
    client: Client,
    { points, retryPoints, startMs }: { points: number; retryPoints: number; startMs: number },
    atOnce: Decision | null,
  ): Promise<Admission> {
    const deadlineMs = startMs + refundWaitMs;
    let decision = atOnce ?? (await settlementFor(client, points));
    for (let isLast = false; !decision.admitted;) {
      // Also refunds that came while the settlement ran.
      const rejected = isLast
        ? rejection(client, retryPoints, monotonicMs())
        : await rejectUnlessRefunded(client, points, retryPoints, deadlineMs);
      if (rejected) {
        onCharge?.({ points, ...decision });
        return rejected;
      }
      // The store can grant less than this process expects.
      isLast = monotonicMs() >= deadlineMs;
      decision = decideAtOnce(client, points, monotonicMs()) ?? (await settlementFor(client, points));
    }
    return admission(client, points, decision);
  }

  function admission(client: Client, points: number, { admitted, basis }: Decision): Charge {
    onCharge?.({ points, admitted, basis });
    const end = (): void => {
      client.open -= 1;
      if (client.open === 0) for (const { resume } of client.refundWaiters) resume();
    };
    return { admitted: true, throttleStatus: throttleStatusOf(client, monotonicMs()), end };
  }

  return {
    status(clientId, limit) {
      const nowMs = monotonicMs();
      const client = clientOf(clientId, limit, nowMs);
      const status = throttleStatusOf(client, nowMs);
      const nextPointMs = msUntilAvailable(client, status.currentlyAvailable + 1, nowMs);
      return { ...status, nextPointMs };
    },

    charge(clientId, limit, points, retryPoints = points) {
      const startMs = monotonicMs();
      const client = clientOf(clientId, limit, startMs);
      const atOnce = decideAtOnce(client, points, startMs);
      if (atOnce) settleAhead(client, startMs);
      if (atOnce?.admitted) return admission(client, points, atOnce);
      return admitLater(client, { points, retryPoints, startMs }, atOnce);
    },

    knownRejection(clientId, limit, points) {
      const nowMs = monotonicMs();
      const client = clientOf(clientId, limit, nowMs);
      if (!isRejected(client, points, nowMs)) return null;
      return rejectUnlessRefunded(client, points, points, nowMs + refundWaitMs);
    },

    deduct(clientId, limit, points) {
      const nowMs = monotonicMs();
      const client = clientOf(clientId, limit, nowMs);
      client.held -= points;
      onCharge?.({ points, admitted: true, basis: client.isLate ? 'alone' : 'held' });
      settleAhead(client, nowMs);
    },

    refund(clientId, limit, points) {
      const nowMs = monotonicMs();
      const client = clientOf(clientId, limit, nowMs);
      receive(client, points);
      onRefund?.(points);
      const throttleStatus = throttleStatusOf(client, nowMs);
      announceRefund(client, nowMs);
      settleAhead(client, nowMs);
      return throttleStatus;
    },

    sweep() {
      const nowMs = monotonicMs();
      for (const client of clients.rvalues()) {
        if (!client || !isIdle(client, nowMs)) break;
        if (client.isSettling) continue;
        if (client.held === 0 && client.owed === 0) clients.delete(client.id);
        else returnHeld(client);
      }
    },
  };
}

function newClient(id: string, limit: CostLimit): Client {
  return {
    ...newClientPoints(limit),
    id,
    usedAtMs: -Infinity,
    settledAtMs: null,
    isSettling: false,
    waiters: new Set(),
    open: 0,
    refundWaiters: new Set(),
    rejectUntilMs: -Infinity,
    quietUntilMs: -Infinity,
  };
}

function isSame(a: CostLimit, b: CostLimit): boolean {
  return a.maximum === b.maximum && a.restoreRate === b.restoreRate;
}
