import type { Store } from '@deedwire/store';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import { selectLane } from './dispatch/sql/lanes.ts';
import { type LaneId, shardOf } from './kernel/ids.ts';
import type { ReplayFeeder } from './replay/feeder.ts';
import type { BacklogRemover } from './subscriptions/backlog-remover.ts';

export interface SubscriptionChangeContext {
  store: Pick<Store, 'query'>;
  dispatcher: Pick<Dispatcher, 'closeLane' | 'rereadTarget' | 'openLane'>;
  backlogs: Pick<BacklogRemover, 'remove'>;
  replays: Pick<ReplayFeeder, 'readAgain' | 'stepsInProgress'>;
}

/**
 * Applies the current state of a subscription to its lane. Idempotent. Ignores a change that names the subscription of another
 * account: nothing in the database prevents it, and this worker may not own that account.
 */
export async function applySubscriptionChange(
  { store, dispatcher, backlogs, replays }: SubscriptionChangeContext,
  id: LaneId,
): Promise<void> {
  const lane = await selectLane(store, id.subscriptionId);
  if (lane !== null && lane.laneId.accountId !== id.accountId) return;
  if (lane === null || !lane.isActive) dispatcher.closeLane(id.subscriptionId);
  else if (lane.hasPending) dispatcher.openLane(id);
  else dispatcher.rereadTarget(id.subscriptionId);
  replays.readAgain(shardOf(id.accountId));
  if (lane?.isDeleted) await backlogs.remove(id, replays.stepsInProgress());
}
