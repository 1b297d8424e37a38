import type { DispatchEvent, Reports } from '../events.ts';
import type { Clock } from '../kernel/clock.ts';
import type { SubscriptionId } from '../kernel/ids.ts';
import type { Send } from './attempts.ts';
import type { MemoryLimits } from './memory.ts';
import type { DispatchStorage } from './storage.ts';

export interface DispatcherOptions extends Reports<DispatchEvent> {
  storage: DispatchStorage;
  send: Send;
  clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  /**
   * The lease of the worker. The dispatcher reports `settling-stalled` when results wait and it has recorded none for this
   * long.
   */
  leaseMs: number;
  /** The maximum number of requests in flight. Defaults to 2,000. */
  slots?: number | undefined;
  /** The maximum number of settle calls in flight. Defaults to 4. */
  settleConcurrency?: number | undefined;
  memory?: MemoryLimits | undefined;
  /** Idle lanes are evicted when there are more lanes than this. Defaults to 50,000. */
  lanesMax?: number | undefined;
  /** Called when a replayed delivery of the lane is settled, which may make room for others. */
  onReplayedSettled?: ((lane: SubscriptionId) => void) | undefined;
}

export interface DispatcherStats {
  readonly lanes: number;
  readonly inFlight: number;
  /** Results that are not recorded yet. */
  readonly unsettled: number;
  /** Deliveries that wait in memory, plus the room that refills in flight have reserved. */
  readonly queued: number;
  readonly queuedBodyBytes: number;
}
