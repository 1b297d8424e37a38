import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface WorkerMetrics {
  eventsFannedOut: Counter;
  attempts: Counter<'verdict'>;
  attemptDuration: Histogram;
  deliveryLag: Histogram;
  alarms: Gauge<'kind'>;
}

export function createWorkerMetrics(registry: Registry, inFlight: () => number): WorkerMetrics {
  const registers = [registry];
  const inFlightGauge = new Gauge({
    name: 'deedwire_webhook_attempts_in_flight',
    help: 'Attempts that are being sent or not yet recorded.',
    collect() {
      this.set(inFlight());
    },
    registers: [],
  });
  registry.registerMetric(inFlightGauge);
  return {
    eventsFannedOut: new Counter({
      name: 'deedwire_events_fanned_out_total',
      help: 'Events whose deliveries have been created.',
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
    alarms: new Gauge({
      name: 'deedwire_outbox_alarms',
      help: 'Events that need an operator: unknown (no worker of this build can render them), failed (rendering failed).',
      labelNames: ['kind'],
      registers,
    }),
  };
}
