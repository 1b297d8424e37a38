import { type BreakerCounts, pausedReasons, type QueueState } from '@deedwire/webhooks';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface WorkerMetrics {
  entriesFannedOut: Counter;
  deliveriesCreated: Counter;
  attempts: Counter<'verdict'>;
  attemptsWithoutHeader: Counter;
  attemptDuration: Histogram;
  deliveryLag: Histogram;
  exchangesLost: Counter;
  statisticsLost: Counter;
  loopFailures: Counter<'loop'>;
  mails: Counter<'result'>;
}

/** The values of the gauges when the metrics are read. */
export interface WorkerState {
  inFlight: number;
  unsettled: number;
  queued: number;
  lanes: number;
  shards: number;
  blocked: number;
  breakers: () => BreakerCounts;
  /** Of the whole database. Null unless this worker reports it. */
  queue: QueueState | null;
}

export function createWorkerMetrics(registry: Registry, state: () => WorkerState): WorkerMetrics {
  const registers = [registry];
  const collected = (name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => void): void => {
    const created: Gauge = new Gauge({ name, help, labelNames, collect: () => collect(created), registers: [] });
    registry.registerMetric(created);
  };
  const gauge = (name: string, help: string, read: (state: WorkerState) => number): void =>
    collected(name, help, [], (created) => created.set(read(state())));
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
  const collectedOfDatabase = (
    name: string,
    help: string,
    labelNames: string[],
    collect: (gauge: Gauge, queue: QueueState) => void,
  ): void =>
    collected(
      name,
      `${help} Of the whole database: the worker that owns shard 0 reports it.`,
      labelNames,
      (created) => {
        const { queue } = state();
        if (queue !== null) collect(created, queue);
        else if (labelNames.length > 0) created.reset();
        else created.remove();
      },
    );
  const gaugeOfDatabase = (name: string, help: string, read: (queue: QueueState) => number): void =>
    collectedOfDatabase(name, help, [], (created, queue) => created.set(read(queue)));
  gaugeOfDatabase(
    'deedwire_events_queued',
    'Events that wait for fan-out, up to a million.',
    (queue) => queue.eventsQueued,
  );
  gaugeOfDatabase(
    'deedwire_webhook_deliveries_pending',
    'Deliveries that are neither delivered nor failed, up to a million.',
    (queue) => queue.deliveriesPending,
  );
  gaugeOfDatabase(
    'deedwire_webhook_oldest_due_seconds',
    'How long the delivery that has been due longest has waited. Without paused subscriptions and failing receivers.',
    (queue) => queue.oldestDueSeconds,
  );
  gaugeOfDatabase(
    'deedwire_accounts_frozen_seconds',
    'How long the account has been frozen that has been for longest, because it leaves for another cell.',
    (queue) => queue.frozenSeconds,
  );
  gaugeOfDatabase(
    'deedwire_webhook_partitions_ahead',
    'For how many days after today the history has partitions.',
    (queue) => queue.daysAhead,
  );
  collectedOfDatabase(
    'deedwire_webhook_subscriptions_paused',
    'Paused subscriptions by reason.',
    ['reason'],
    (created, { paused }) => {
      for (const reason of pausedReasons) created.set({ reason }, paused[reason] ?? 0);
    },
  );
  collectedOfDatabase(
    'deedwire_webhook_subscriptions_disrupted',
    'Subscriptions that are not paused, and whose disruption an alert has reported, by state: DISRUPTED (and failed within an hour), RECOVERING.',
    ['state'],
    (created, { disrupted }) => {
      created.set({ state: 'DISRUPTED' }, disrupted.DISRUPTED ?? 0);
      created.set({ state: 'RECOVERING' }, disrupted.RECOVERING ?? 0);
    },
  );
  collected(
    'deedwire_webhook_breakers',
    'Subscriptions in the memory of the worker by the state of their circuit breaker: closed, open, half_open.',
    ['state'],
    (created) => {
      const { closed, open, halfOpen } = state().breakers();
      created.set({ state: 'closed' }, closed);
      created.set({ state: 'open' }, open);
      created.set({ state: 'half_open' }, halfOpen);
    },
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
    attemptsWithoutHeader: new Counter({
      name: 'deedwire_webhook_attempts_without_header_total',
      help: 'Attempts without the request header of the subscription, which is for another origin than that of its callback URL.',
      registers,
    }),
    attemptDuration: new Histogram({
      name: 'deedwire_webhook_attempt_duration_seconds',
      help: 'Duration of attempts.',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
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
    statisticsLost: new Counter({
      name: 'deedwire_webhook_statistics_lost_total',
      help: 'Counts of a subscription in an hour that were not stored.',
      registers,
    }),
    loopFailures: new Counter({
      name: 'deedwire_worker_loop_failures_total',
      help: 'Failures of work that the worker repeats, by loop.',
      labelNames: ['loop'],
      registers,
    }),
    mails: new Counter({
      name: 'deedwire_mails_total',
      help: 'Attempts to send a mail to a contact address by result: sent, failed (tried again), bounced (the server refused the address for good).',
      labelNames: ['result'],
      registers,
    }),
  };
}
