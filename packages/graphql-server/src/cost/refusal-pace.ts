/** Paces the refusals of each client. */
export interface RefusalPace {
  /** Returns how long to wait before the next refusal is sent to the client, in milliseconds. 0 for a client with few refusals. */
  next: (clientId: string, nowMs: number) => number;
  /** Whether the client has had so many refusals that it gets no more of them for now. */
  isFull: (clientId: string, nowMs: number) => boolean;
}

export interface RefusalPaceOptions {
  /** Refusals that are sent without delay. */
  atOnce: number;
  /** The others are sent at this rate. */
  perSecond: number;
  /** The longest delay. */
  maxDelayMs: number;
  /** The refusals of a client that are counted until they would be sent at this rate. */
  maxDue: number;
}

/**
 * A refusal costs CPU and no points, and a client can send the next request as soon as it has received it, or without waiting for
 * it. Each client has its own pace, so that its refusals do not delay those of other clients.
 */
export function createRefusalPace({ atOnce, perSecond, maxDelayMs, maxDue }: RefusalPaceOptions): RefusalPace {
  const intervalMs = 1000 / perSecond;
  const toleranceMs = intervalMs * (atOnce - 1);
  /** When the next refusal of each client is due at an even rate. The client that was refused last is the last one. */
  const due = new Map<string, number>();

  return {
    next(clientId, nowMs) {
      const dueMs = Math.max(nowMs, due.get(clientId) ?? nowMs);
      const delayMs = Math.min(maxDelayMs, Math.max(0, dueMs - toleranceMs - nowMs));
      due.delete(clientId);
      due.set(clientId, dueMs + intervalMs);
      for (const [otherId, otherDueMs] of due) {
        if (otherDueMs > nowMs) break;
        due.delete(otherId);
      }
      return delayMs;
    },
    isFull: (clientId, nowMs) => (due.get(clientId) ?? nowMs) - nowMs >= maxDue * intervalMs,
  };
}
