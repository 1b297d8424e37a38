import type { CostLimit } from '@deedwire/auth';
import { operationCostPoints } from '@deedwire/domain';
import type { ThrottleStatus } from './bucket.ts';

/** The points of a client in this process. Times are in milliseconds of a monotonic clock. */
export interface ClientPoints {
  limit: CostLimit;
  /** Taken from the shared bucket and not spent: operations can spend them without the database. */
  held: number;
  /**
   * To be added to the shared bucket by the next settlement. Positive: refunds and points that are not needed. Negative: points
   * that this process spent or holds without having taken them, because the shared bucket could not be reached.
   */
  owed: number;
  /** On their way to the shared bucket, like `owed`. Their settlement is in progress. */
  settling: number;
  /** The shared bucket after the last settlement. Null before the first one. */
  shared: { points: number; atMs: number } | null;
  /** Up to when points were restored locally. Null while settlements succeed in time. */
  restoredAtMs: number | null;
}

export function newClientPoints(limit: CostLimit): ClientPoints {
  return { limit, held: 0, owed: 0, settling: 0, shared: null, restoredAtMs: null };
}

/**
 * A process may hold the points that the client regains in half a second, and spend as many more that it has not taken from the
 * shared bucket. Together, all processes exceed the shared bucket by the points of a second for each of them.
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

/** Takes points if the process holds them. */
export function spend(client: ClientPoints, points: number): boolean {
  if (client.held < points) return false;
  client.held -= points;
  return true;
}

/** Adds points, and leaves those that the process may not hold to the next settlement. */
export function receive(client: ClientPoints, points: number): void {
  client.held += points;
  const excess = client.held - holdingLimit(client);
  if (excess <= 0) return;
  client.held -= excess;
  client.owed += excess;
}

/**
 * The shared bucket cannot be reached: the process continues with its share of the points that the client regains. It gets the
 * first of them at once, as many as it may spend in advance.
 */
export function beginAlone(client: ClientPoints, nowMs: number, processes: number): void {
  if (client.restoredAtMs !== null) return;
  // A bucket that is overdrawn counts as a debt of this process, so that an advance that was settled is not followed by another.
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
  // Meanwhile the shared bucket restores the same points. It is full at some time, so older debts for spent points are forgotten.
  client.owed = Math.max(client.owed - advance, -client.held - limit.maximum / processes);
}

/** The shared bucket can be reached again. What the process holds pays what it owes. */
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
 * The points that are available to the client as far as this process knows, at most those of a full bucket. Before the first
 * settlement it knows nothing, and assumes a full bucket. While the shared bucket cannot be reached, only the points in this
 * process count.
 */
export function availablePoints(client: ClientPoints, nowMs: number): number {
  const { limit, held, owed, settling, restoredAtMs } = client;
  if (restoredAtMs !== null) return Math.min(limit.maximum, held);
  return Math.min(limit.maximum, Math.max(0, sharedPoints(client, nowMs) + owed + settling) + held);
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

/** The time until the client has these points, if it spends none meanwhile. At least 1. */
export function msUntilAvailable(client: ClientPoints, points: number, nowMs: number, processes: number): number {
  const missing = points - availablePoints(client, nowMs);
  const ms =
    client.restoredAtMs === null
      ? msToRestore(client, missing, 1)
      : client.restoredAtMs - nowMs + msToRestore(client, missing, processes);
  return Math.max(1, Math.ceil(ms));
}
