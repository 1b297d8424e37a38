import type { Logger } from '@deedwire/service-runtime';
import type { Store } from '@deedwire/store';
import { countOutboxAlarms } from '@deedwire/store/webhook-fan-out';
import { createLoop, type Loop } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';
import { knownEventVersions } from './rendering/render-payload.ts';

/** Counts the events that need an operator's attention, and logs an error whenever a count has grown. */
export function createAlarms(options: { store: Store; logger: Logger; metrics: WorkerMetrics }): Loop {
  const { store, logger, metrics } = options;
  const last = { unknown: 0, failed: 0 };
  return createLoop('alarms', logger, async () => {
    const alarms = await countOutboxAlarms(store, knownEventVersions);
    for (const kind of ['unknown', 'failed'] as const) {
      metrics.alarms.set({ kind }, alarms[kind]);
      if (alarms[kind] > last[kind]) {
        logger.error({ alarm: `events-${kind}`, count: alarms[kind] }, 'events in the outbox need attention');
      }
      last[kind] = alarms[kind];
    }
  });
}
