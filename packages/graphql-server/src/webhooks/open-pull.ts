import { type PullContext, createEventWaits, noteListenerRead } from '@deedwire/actions';
import type { InterfaceName } from '@deedwire/core';
import { createAlarms, type Logger, type ServerAlarm } from '@deedwire/service-runtime';
import type { Store } from '@deedwire/store';
import { Gauge, type Registry } from 'prom-client';

/** The alarms of an interface. */
export type InterfaceAlarm = ServerAlarm | 'webhook-event-missing';

export interface PullOptions {
  store: Store;
  interfaceName: InterfaceName;
  logger: Logger;
  metrics: Registry;
}

/** What reading the events of subscriptions needs beside the database: the waits of this process, its metrics and its alarm. */
export interface Pull {
  context: Pick<PullContext, 'eventWaits' | 'webhookReads' | 'reportMissingEvent'>;
  /** Answers the requests that wait. Later ones do not wait. */
  release(): void;
}

export function openPull({ store, interfaceName, logger, metrics }: PullOptions): Pull {
  const eventWaits = createEventWaits({ database: store });
  const raiseAlarm = createAlarms<InterfaceAlarm>(metrics, logger);
  const waits: Gauge = new Gauge({
    name: 'deedwire_webhook_event_waits',
    help: 'Requests that wait for an event of a subscription, by interface.',
    labelNames: ['interface'],
    registers: [metrics],
    collect: () => waits.set({ interface: interfaceName }, eventWaits.count()),
  });
  return {
    context: {
      eventWaits,
      webhookReads: {
        note: (id) =>
          void noteListenerRead(store, id).catch((error: unknown) => {
            logger.warn({ err: error, subscriptionId: id }, 'could not note the last read of a listener');
          }),
      },
      reportMissingEvent: (missing) => raiseAlarm('webhook-event-missing', missing),
    },
    release: () => eventWaits.close(),
  };
}
