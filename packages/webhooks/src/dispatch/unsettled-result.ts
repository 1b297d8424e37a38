import type { LaneState } from './lane-state.ts';
import type { QueuedDelivery } from './lane.ts';
import type { Settlement } from './storage.ts';

/** A settlement and the delivery in memory that it belongs to. */
export interface UnsettledResult extends Settlement {
  readonly queued: QueuedDelivery;
  /** Set to null when a later settlement of the same call contains a later state. */
  laneState: LaneState | null;
}
