import type { Store } from '@deedwire/store';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import type { LaneId } from './dispatch/lane-registry.ts';
import { selectLane } from './dispatch/sql/select-lane.ts';
import { deletePendingOfDeleted } from './subscriptions/delete-pending-of-deleted.ts';
import { deleteReceiverStateOfDeleted } from './subscriptions/delete-receiver-state-of-deleted.ts';
import type { WorkerId } from './workers/worker-id.ts';

export interface SubscriptionChangeContext {
  store: Store;
  dispatcher: Pick<Dispatcher, 'closeLane' | 'laneChanged' | 'openLane'>;
  workerId: () => WorkerId;
}

/** How many rows one statement deletes, so that it locks none for long. */
const batchSize = 1_000;

/** Puts the current state of a subscription into effect. Can be repeated. */
export async function applySubscriptionChange(
  { store, dispatcher, workerId }: SubscriptionChangeContext,
  id: LaneId,
): Promise<void> {
  const lane = await selectLane(store, id.subscriptionId);
  if (lane === null || lane.isDeleted) {
    dispatcher.closeLane(id.subscriptionId);
    let hasPending = lane?.hasPending ?? false;
    // A result that is recorded at the same time can reschedule its delivery, which the statement does not see. Once nothing is
    // pending, no result writes anything.
    while (hasPending) {
      await deletePendingOfDeleted(store, workerId(), id.subscriptionId, batchSize);
      hasPending = (await selectLane(store, id.subscriptionId))?.hasPending ?? false;
    }
    await deleteReceiverStateOfDeleted(store, workerId(), id.subscriptionId);
  } else if (!lane.isActive) dispatcher.closeLane(id.subscriptionId);
  else if (lane.hasPending) dispatcher.openLane(id);
  else dispatcher.laneChanged(id.subscriptionId);
}
