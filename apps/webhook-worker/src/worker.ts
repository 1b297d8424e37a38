import { hostname } from 'node:os';
import { retiredEventVersions } from '@deedwire/actions';
import type { Logger } from '@deedwire/service-runtime';
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
import { createRetirement } from './retirement.ts';

const appName = 'deedwire-webhook-worker';
// How often to look for what nobody tells of: alarms, and versions that have come to their end.
const watchIntervalMs = 30_000;

/** The parts of the worker, to be started and stopped by a service. */
export interface Worker {
  /** What is missing before it can work. It begins to work as soon as nothing is. */
  readiness(): Promise<readonly string[]>;
  /** Begins nothing new. */
  stopTakingWork(): void;
  /** Settles when everything begun is written. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function createWorker(config: WorkerConfig, logger: Logger, registry: Registry, version: string): Worker {
  const { GID_NAMESPACE: gidNamespace, DATABASE_URL: databaseUrl } = config;
  const wakeUrl = config.DATABASE_DIRECT_URL ?? databaseUrl;
  const logStoreError = (error: unknown): void => logger.warn({ err: error }, 'a database connection broke');
  const store = createStore({
    databaseUrl,
    directUrl: config.DATABASE_DIRECT_URL,
    applicationName: appName,
    onError: logStoreError,
    onNotifyError: logStoreError,
    slowStatement: {
      thresholdMs: config.SLOW_STATEMENT_MS,
      onSlow: ({ name: statement, ...slow }) => logger.warn({ statement, ...slow }, 'slow statement'),
    },
  });
  const clock = createDatabaseClock({ store, logger });
  const sender = createWebhookSender({
    now: clock.now,
    policy: config.WEBHOOK_CALLBACK_POLICY,
    userAgent: `Deedwire-Webhooks/${version}`,
    nodeTlsRejectUnauthorized: config.NODE_TLS_REJECT_UNAUTHORIZED,
  });
  const secretKeys = createSecretKeyRing(config.WEBHOOK_SECRET_KEYS);

  const metrics = createWorkerMetrics(registry, () => dispatcher.inFlight());
  const attempts = { sender, secretKeys, gidNamespace, logger, metrics, now: clock.now };
  const dispatcher = createDispatcher({
    store: createDispatchStore(store, `${hostname()}/${process.pid}`, leaseSeconds),
    attempt: (lane, delivery) => attemptDelivery(attempts, lane, delivery),
    concurrency: config.WORKER_CONCURRENCY,
    logger,
    now: clock.now,
  });
  const fanOut = createFanOut({
    store,
    gidNamespace,
    logger,
    metrics,
    onDeliveries: () => dispatcher.wake(),
  });
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

  let isStopping = false;
  let work: { stop(): Promise<void> } | null = null;
  const start = (): { stop(): Promise<void> } => {
    const listener = createListener({
      databaseUrl: wakeUrl,
      applicationName: `${appName}-listen`,
      onWake: wake,
      onError: logStoreError,
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
    async readiness() {
      const problems = await describeDatabaseProblems(store);
      if (problems.length === 0) {
        await clock.read();
        if (!isStopping) work ??= start();
      }
      return problems;
    },
    stopTakingWork: () => dispatcher.stopTaking(),
    async drain() {
      isStopping = true;
      await work?.stop();
      await Promise.all([fanOut, ...watches].map((loop) => loop.stop()));
      // What cannot be written now is sent again by whoever takes the lanes over.
      await dispatcher.drain().catch((error: unknown) => logger.error({ err: error }, 'drained without the database'));
    },
    async close() {
      await sender.close();
      await store.close();
    },
  };
}
