import type { Logger } from '@deedwire/service-runtime';
import type { Store } from '@deedwire/store';
import {
  lockLanes,
  pauseRetiredSubscriptions,
  selectSubscriptionsPinning,
  type EventVersionRef,
} from '@deedwire/store/webhook-fan-out';
import { createLoop, type Loop } from './loop.ts';

/** Pauses the subscriptions that pin a retired version of an event type. */
export function createRetirement(options: {
  store: Store;
  logger: Logger;
  retiredVersions: () => readonly EventVersionRef[];
}): Loop {
  const { store, logger, retiredVersions } = options;
  return createLoop('retirement', logger, async () => {
    const retired = retiredVersions();
    if (retired.length === 0) return;
    const subscriptionIds = await selectSubscriptionsPinning(store, retired);
    if (subscriptionIds.length === 0) return;
    await store.transaction(async (transaction) => {
      await lockLanes(transaction, subscriptionIds);
      await pauseRetiredSubscriptions(transaction, subscriptionIds);
    });
    logger.warn({ subscriptionIds }, 'subscriptions paused because they pin a retired version');
  });
}
