import type { CostLimit } from '@deedwire/auth';
import type { ThrottleStatus } from './bucket.ts';

/** The points of a client in this process. Times are in milliseconds of a monotonic clock. */
export interface ClientPoints {
  limit: CostLimit;
  /** Taken from the shared bucket and not spent: operations can spend them without the database. Negative: a debt. */
  held: number;
  /** Points to return with the next settlement. Negative: a debt that an earlier one, which failed, may not have paid. */
  owed: number;
  /** Points that the settlement in progress returns, or the debt that it pays. */
  settling: number;
  /** The shared bucket after the last settlement. Null before the first one. */
  shared: { points: number; atMs: number } | null;
  /** A settlement takes long or has failed, and none has succeeded since. */
  isLate: boolean;
}

export function newClientPoints(limit: CostLimit): ClientPoints {
  return { limit, held: 0, owed: 0, settling: 0, shared: null, isLate: false };
}

/**
 * The points that a process may hold, and spend in advance while the shared bucket does not respond: what the client regains in half
 * a second. Together, all processes exceed the shared bucket by at most one second's points per process.
 */
export function reservePoints({ limit }: ClientPoints): number {
  return limit.restoreRate / 2;
}

/** Spends points if the process holds enough, or may spend them in advance. */
export function spend(client: ClientPoints, points: number, nowMs: number): boolean {
  const debt = Math.min(0, client.owed) + Math.min(0, client.settling) + Math.min(0, sharedPoints(client, nowMs));
  const advance = client.isLate ? Math.max(0, reservePoints(client) + debt) : 0;
  if (client.held + advance < points) return false;
  client.held -= points;
  return true;
}

/** Adds points. Points beyond the limit of the process are returned with the next settlement. */
export function receive(client: ClientPoints, points: number): void {
  client.held += points;
  const excess = client.held - reservePoints(client);
  if (excess <= 0) return;
  client.held -= excess;
  client.owed += excess;
}

/** The points that are available to the client as far as this process knows. Assumes a full bucket before the first settlement. */
export function availablePoints(client: ClientPoints, nowMs: number): number {
  const outside = sharedBalance(client, nowMs) + Math.min(0, client.held);
  return Math.min(client.limit.maximum, Math.max(0, outside) + Math.max(0, client.held));
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
export function msUntilAvailable(client: ClientPoints, points: number, nowMs: number): number {
  const missing = points - client.held - sharedBalance(client, nowMs);
  return Math.max(1, Math.ceil((missing / client.limit.restoreRate) * 1000));
}
