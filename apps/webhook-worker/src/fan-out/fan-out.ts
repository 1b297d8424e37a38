import type { Logger } from '@deedwire/service-runtime';
import { selectAccountsWithQueuedEvents, type Store } from '@deedwire/store';

import { createLoop, type Loop } from '../loop.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { knownEventVersions } from '../rendering/render-payload.ts';
import { fanOutAccount } from './fan-out-account.ts';

export interface FanOutOptions {
  store: Store;
  gidNamespace: string;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Called when there are new deliveries. */
  onDeliveries: () => void;
}

const ACCOUNTS_PER_ROUND = 50;

/** Makes deliveries of events, an account at a time and each for one transaction, so that a long backlog delays no other. */
export function createFanOut({ store, gidNamespace, logger, metrics, onDeliveries }: FanOutOptions): Loop {
  return createLoop('fan-out', logger, async () => {
    for (;;) {
      const accountIds = await selectAccountsWithQueuedEvents(store, knownEventVersions, ACCOUNTS_PER_ROUND);
      let handled = 0;
      for (const accountId of accountIds) {
        const { events, deliveries, failed } = await fanOutAccount(store, gidNamespace, accountId);
        handled += events + failed.length;
        metrics.eventsFannedOut.inc(events);
        for (const failure of failed) logger.error({ ...failure, alarm: 'event-not-rendered' }, 'event set aside');
        if (deliveries > 0) onDeliveries();
      }
      // Nothing left, or all of it in the hands of other workers.
      if (handled === 0) return;
    }
  });
}
