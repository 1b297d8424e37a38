import { hostname } from 'node:os';
import { databaseLog, type Logger } from '@deedwire/service-runtime';
import { createSecretKeyRing, createStore, describeDatabaseProblems } from '@deedwire/store';
import { createListener } from '@deedwire/store/listener';
import { createWebhookSender } from '@deedwire/webhook-sender';
import type { Registry } from 'prom-client';
import { createAlarms } from './alarms.ts';
import type { WorkerConfig } from './config.ts';
import { createDatabaseClock } from './database-clock.ts';
import { attemptDelivery } from './dispatch/attempt.ts';
import { createDispatchStore } from './dispatch/dispatch-store.ts';
import { createDispatcher, leaseSeconds } from './dispatch/dispatcher.ts';
import { createFanOut } from './fan-out/fan-out.ts';
import { createLoop } from './loop.ts';
import { createWorkerMetrics } from './metrics.ts';
import { retiredEventVersions } from './retired-event-versions.ts';
import { createRetirement } from './retirement.ts';

const appName = 'deedwire-webhook-worker';
// How often to check for changes without a notification: alarms, retired versions and the clock.
const watchIntervalMs = 30_000;

const monotonicMs = (): number => performance.now();

export interface WorkerOptions {
  config: WorkerConfig;
  logger: Logger;
  metrics: Registry;
  /** Sent in the User-Agent of deliveries. */
  version: string;
}

/** The hooks by which a service starts and stops the worker. */
export interface Worker {
  /** Returns what is missing before the worker can start, one sentence each. */
  readiness(): Promise<readonly string[]>;
  /** Starts to take work. Call it when nothing is missing. If it throws, nothing has started and it can be called again. */
  start(): Promise<void>;
  /** Stops sending new deliveries. */
  stopTakingWork(): void;
  /** Resolves when all deliveries in flight are recorded and all lanes are released. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function createWorker({ config, logger, metrics: registry, version }: WorkerOptions): Worker {
  const { GID_NAMESPACE: gidNamespace, DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: directUrl } = config;
  const storeLog = databaseLog(logger, config);
  const store = createStore({ databaseUrl, directUrl, applicationName: appName, ...storeLog });
  const clock = createDatabaseClock({ store, logger, machine: { now: () => Date.now(), monotonicMs } });
  const sender = createWebhookSender({
    now: clock.now,
    policy: config.WEBHOOK_CALLBACK_POLICY,
    userAgent: `Deedwire-Webhooks/${version}`,
    maxIdleConnections: config.WORKER_CONCURRENCY,
    nodeTlsRejectUnauthorized: config.NODE_TLS_REJECT_UNAUTHORIZED,
  });
  const secretKeys = createSecretKeyRing(config.WEBHOOK_SECRET_KEYS);

  const metrics = createWorkerMetrics(registry, () => dispatcher.inFlight());
  const attempts = { sender, secretKeys, gidNamespace, logger, metrics, now: clock.now, random: Math.random };
  const dispatcher = createDispatcher({
    store: createDispatchStore(store, `${hostname()}/${process.pid}`, leaseSeconds),
    attempt: (lane, delivery) => attemptDelivery(attempts, lane, delivery),
    concurrency: config.WORKER_CONCURRENCY,
    logger,
    now: clock.now,
    monotonicMs,
    random: Math.random,
  });
  const fanOut = createFanOut({ store, gidNamespace, logger, metrics, onDeliveries: () => dispatcher.wake() });
  const watches = [
    createLoop('clock', logger, clock.read),
    createAlarms({ store, logger, metrics }),
    createRetirement({ store, logger, retiredVersions: () => retiredEventVersions(clock.now()) }),
  ];
  const wake = (): void => {
    fanOut.wake();
    dispatcher.wake();
  };

  const watch = (): void => {
    for (const loop of watches) loop.wake();
  };

  let intake: { stop(): Promise<void> } | null = null;
  const startIntake = (): { stop(): Promise<void> } => {
    const listener = createListener({
      databaseUrl: directUrl ?? databaseUrl,
      applicationName: `${appName}-listen`,
      onWake: wake,
      onError: storeLog.onError,
    });
    const { POLL_INTERVAL_MS: pollIntervalMs } = config;
    const pollTimer = pollIntervalMs > 0 ? setInterval(wake, pollIntervalMs) : undefined;
    const watchTimer = setInterval(watch, watchIntervalMs);
    watch();
    wake();
    return {
      async stop() {
        clearInterval(pollTimer);
        clearInterval(watchTimer);
        await listener.close();
      },
    };
  };

  return {
    readiness: () => describeDatabaseProblems(store),
    async start() {
      // Before the first delivery, because its signature contains the time.
      await clock.read();
      intake = startIntake();
    },
    stopTakingWork: () => dispatcher.stopTaking(),
    async drain() {
      await intake?.stop();
      await Promise.all([fanOut, ...watches].map((loop) => loop.stop()));
      // The next owner of the lanes repeats the attempts that cannot be recorded now.
      await dispatcher.drain().catch((error: unknown) => logger.error({ err: error }, 'attempts not recorded'));
    },
    async close() {
      await sender.close();
      await store.close();
    },
  };
}
