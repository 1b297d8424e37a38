import type { LaneState } from './lane-state.ts';
import type { QueuedDelivery } from './lane.ts';
import type { Settlement } from './storage.ts';

/** A settlement and the delivery in memory that it belongs to. */
export interface UnsettledResult extends Settlement {
  readonly queued: QueuedDelivery;
  /** Set by each call. */
  laneState: LaneState | null;
  /** Another transaction has locked its row. Later results of the lane overtake this one. */
  isLocked: boolean;
}
