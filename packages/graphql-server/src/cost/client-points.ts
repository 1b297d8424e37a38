import type { CostLimit } from '@deedwire/auth';
import { operationCostPoints } from '@deedwire/domain';
import type { ThrottleStatus } from './bucket.ts';

/** The points of a client in this process. Times are in milliseconds of a monotonic clock. */
export interface ClientPoints {
  limit: CostLimit;
  /**
   * Taken from the shared bucket and not spent: operations can spend them without the database. Negative after work that cost more
   * than the process held while the shared bucket could not be reached.
   */
  held: number;
  /**
   * Points to return with the next settlement: refunds and unused points. Negative: points that this process spent or holds
   * in advance, because the shared bucket could not be reached.
   */
  owed: number;
  /** Points that the settlement in progress returns, counted as `owed`. */
  settling: number;
  /** The shared bucket after the last settlement. Null before the first one. */
  shared: { points: number; atMs: number } | null;
  /** The time up to which points were restored locally. Null while settlements succeed in time. */
  restoredAtMs: number | null;
}

export function newClientPoints(limit: CostLimit): ClientPoints {
  return { limit, held: 0, owed: 0, settling: 0, shared: null, restoredAtMs: null };
}

/**
 * The points that a process may hold, and spend in advance: what the client regains in half a second. Together, all
 * processes exceed the shared bucket by at most one second's points per process.
 */
export function reservePoints({ limit }: ClientPoints): number {
  return limit.restoreRate / 2;
}

/**
 * While the shared bucket cannot be reached, a process may save up the points of the most expensive operation, so that every
 * operation is admitted after some time.
 */
function holdingLimit(client: ClientPoints): number {
  return client.restoredAtMs === null ? reservePoints(client) : Math.max(reservePoints(client), operationCostPoints);
}

/** Spends points if the process holds enough. */
export function spend(client: ClientPoints, points: number): boolean {
  if (client.held < points) return false;
  client.held -= points;
  return true;
}

/**
 * Spends points even if the client has fewer. The missing ones are a debt to the shared bucket. While that cannot be reached, the
 * process itself regains them first: it holds less than nothing.
 */
export function spendOrOwe(client: ClientPoints, points: number): void {
  const spent = client.restoredAtMs === null ? Math.min(points, Math.max(0, client.held)) : points;
  client.held -= spent;
  client.owed -= points - spent;
}

/** Adds points. Points beyond the limit of the process are returned with the next settlement. */
export function receive(client: ClientPoints, points: number): void {
  client.held += points;
  const excess = client.held - holdingLimit(client);
  if (excess <= 0) return;
  client.held -= excess;
  client.owed += excess;
}

/**
 * Continues without the shared bucket, with this process's share of the points that the client regains. The process starts
 * with as many as it may spend in advance.
 */
export function beginAlone(client: ClientPoints, nowMs: number, processes: number): void {
  if (client.restoredAtMs !== null) return;
  // An overdrawn bucket counts as a debt of this process, so that the process does not spend in advance twice.
  const overdrawn = Math.max(0, -sharedPoints(client, nowMs));
  const debt = Math.max(0, -client.owed) + Math.max(0, -client.settling) + overdrawn;
  const advance = Math.max(0, reservePoints(client) - debt);
  client.held += advance;
  client.owed -= advance;
  client.restoredAtMs = nowMs + msToRestore(client, advance, processes);
}

/** Restores the share of one process while the shared bucket cannot be reached. */
export function restoreAlone(client: ClientPoints, nowMs: number, processes: number): void {
  const { limit, restoredAtMs } = client;
  if (restoredAtMs === null || nowMs <= restoredAtMs) return;
  const restored = ((nowMs - restoredAtMs) / 1000) * (limit.restoreRate / processes);
  const advance = Math.max(0, Math.min(restored, holdingLimit(client) - client.held));
  client.restoredAtMs = nowMs;
  client.held += advance;
  // The shared bucket regains the same points meanwhile, and is full at some time. So older debts for spent points are
  // dropped.
  client.owed = Math.max(client.owed - advance, -client.held - limit.maximum / processes);
}

/** Continues with the shared bucket. The held points pay the debts. */
export function endAlone(client: ClientPoints): void {
  const paid = Math.min(client.held, Math.max(0, -client.owed));
  client.held -= paid;
  client.owed += paid;
  client.restoredAtMs = null;
  receive(client, 0);
}

const msToRestore = ({ limit }: ClientPoints, points: number, processes: number): number =>
  (points / (limit.restoreRate / processes)) * 1000;

/**
 * The points that are available to the client as far as this process knows, at most a full bucket. Assumes a full bucket
 * before the first settlement. While the shared bucket cannot be reached, only the points in this process count.
 */
export function availablePoints(client: ClientPoints, nowMs: number): number {
  const { limit, held, restoredAtMs } = client;
  const outside = restoredAtMs === null ? Math.max(0, sharedBalance(client, nowMs)) : 0;
  return Math.max(0, Math.min(limit.maximum, outside + held));
}

/** The points of the shared bucket once this process has settled with it. Negative if they are a debt. */
function sharedBalance(client: ClientPoints, nowMs: number): number {
  return sharedPoints(client, nowMs) + client.owed + client.settling;
}

/** The points of the shared bucket, if no other process has changed it. */
function sharedPoints({ limit, shared }: ClientPoints, nowMs: number): number {
  if (shared === null) return limit.maximum;
  return Math.min(limit.maximum, shared.points + ((nowMs - shared.atMs) / 1000) * limit.restoreRate);
}

export function throttleStatusOf(client: ClientPoints, nowMs: number): ThrottleStatus {
  return {
    maximumAvailable: client.limit.maximum,
    currentlyAvailable: Math.floor(availablePoints(client, nowMs)),
    restoreRate: client.limit.restoreRate,
  };
}

/** The time until the client has these points if it spends none meanwhile, in milliseconds. At least 1. */
export function msUntilAvailable(client: ClientPoints, points: number, nowMs: number, processes: number): number {
  const missing = points - client.held;
  const ms =
    client.restoredAtMs === null
      ? msToRestore(client, missing - sharedBalance(client, nowMs), 1)
      : client.restoredAtMs - nowMs + msToRestore(client, missing, processes);
  return Math.max(1, Math.ceil(ms));
}
