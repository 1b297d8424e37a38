import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface WorkerMetrics {
  entriesFannedOut: Counter;
  deliveriesCreated: Counter;
  attempts: Counter<'verdict'>;
  attemptDuration: Histogram;
  deliveryLag: Histogram;
  exchangesLost: Counter;
  alarms: Counter<'alarm'>;
  loopFailures: Counter<'loop'>;
}

/** The values of the gauges when the metrics are read. */
export interface WorkerState {
  inFlight: number;
  unsettled: number;
  queued: number;
  lanes: number;
  shards: number;
  blocked: number;
}

export function createWorkerMetrics(registry: Registry, state: () => WorkerState): WorkerMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, read: (state: WorkerState) => number): void => {
    const created = new Gauge({
      name,
      help,
      collect() {
        this.set(read(state()));
      },
      registers: [],
    });
    registry.registerMetric(created);
  };
  gauge('deedwire_webhook_attempts_in_flight', 'Requests in flight.', ({ inFlight }) => inFlight);
  gauge('deedwire_webhook_results_unsettled', 'Attempts that are not recorded yet.', ({ unsettled }) => unsettled);
  gauge('deedwire_webhook_deliveries_queued', 'Deliveries that wait in memory.', ({ queued }) => queued);
  gauge('deedwire_webhook_lanes', 'Subscriptions in memory.', ({ lanes }) => lanes);
  gauge('deedwire_webhook_shards', 'Shards that this worker owns, of 64.', ({ shards }) => shards);
  gauge(
    'deedwire_events_blocked',
    'Events that wait for a worker that knows their type or version, or that the database refused.',
    ({ blocked }) => blocked,
  );
  return {
    entriesFannedOut: new Counter({
      name: 'deedwire_events_fanned_out_total',
      help: 'Events and subscription changes that fan-out has finished.',
      registers,
    }),
    deliveriesCreated: new Counter({
      name: 'deedwire_webhook_deliveries_total',
      help: 'Deliveries that fan-out has created.',
      registers,
    }),
    attempts: new Counter({
      name: 'deedwire_webhook_attempts_total',
      help: 'Attempts by result: delivered, retry, failed.',
      labelNames: ['verdict'],
      registers,
    }),
    attemptDuration: new Histogram({
      name: 'deedwire_webhook_attempt_duration_seconds',
      help: 'Duration of attempts.',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    deliveryLag: new Histogram({
      name: 'deedwire_webhook_delivery_lag_seconds',
      help: 'Time from an event to the start of its first attempt.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3_600],
      registers,
    }),
    exchangesLost: new Counter({
      name: 'deedwire_webhook_exchanges_lost_total',
      help: 'Attempts whose details were to be kept, but were not stored.',
      registers,
    }),
    alarms: new Counter({
      name: 'deedwire_alarms_total',
      help: 'Log lines with an alarm: something needs an operator.',
      labelNames: ['alarm'],
      registers,
    }),
    loopFailures: new Counter({
      name: 'deedwire_worker_loop_failures_total',
      help: 'Failures of work that the worker repeats, by loop.',
      labelNames: ['loop'],
      registers,
    }),
  };
}
