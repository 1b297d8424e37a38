import type { Store } from '@deedwire/store';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import { selectLane } from './dispatch/sql/select-lane.ts';
import type { WorkerId } from './fence/worker-id.ts';
import type { LaneId } from './kernel/lane-id.ts';
import { deletePendingOfDeleted } from './subscriptions/delete-pending-of-deleted.ts';
import { deleteReceiverStateOfDeleted } from './subscriptions/delete-receiver-state-of-deleted.ts';

export interface SubscriptionChangeContext {
  store: Store;
  dispatcher: Pick<Dispatcher, 'closeLane' | 'laneChanged' | 'openLane'>;
  workerId: () => WorkerId;
}

/** Rows per statement. Small, so that no lock is held for long. */
const batchSize = 1_000;

/** Applies the current state of a subscription to its lane. Idempotent. */
export async function applySubscriptionChange(
  { store, dispatcher, workerId }: SubscriptionChangeContext,
  id: LaneId,
): Promise<void> {
  const lane = await selectLane(store, id.subscriptionId);
  if (lane === null || lane.isDeleted) {
    dispatcher.closeLane(id.subscriptionId);
    let hasPending = lane?.hasPending ?? false;
    // A result that is recorded concurrently can reschedule its delivery, and this statement does not see the new row.
    // Once no delivery is pending, results write nothing.
    while (hasPending) {
      await deletePendingOfDeleted(store, workerId(), id.subscriptionId, batchSize);
      hasPending = (await selectLane(store, id.subscriptionId))?.hasPending ?? false;
    }
    await deleteReceiverStateOfDeleted(store, workerId(), id.subscriptionId);
  } else if (!lane.isActive) dispatcher.closeLane(id.subscriptionId);
  else if (lane.hasPending) dispatcher.openLane(id);
  else dispatcher.laneChanged(id.subscriptionId);
}
