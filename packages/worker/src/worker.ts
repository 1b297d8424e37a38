import { hostname } from 'node:os';
import { isRetired, type Service } from '@deedwire/core';
import { createAlarms, databaseLog, type Logger, storeConnections, type Tracing } from '@deedwire/service-runtime';
import {
  createSecretKeyRing,
  type Database,
  databaseAddress,
  type DatabaseRisk,
  describeLostStatements,
  findDatabaseRisks,
  findLostStatements,
  findServiceProblems,
  type PoolState,
  SecretUnreadableError,
} from '@deedwire/store';
import { createListener } from '@deedwire/store/listener';
import { createRenderer } from '@deedwire/webhook-rendering';
import { createWebhookSender } from '@deedwire/webhook-sender';
import { armFailpoint, createWebhookEngine, type QueueState, type EventTypePin } from '@deedwire/webhooks';
import type { Registry } from 'prom-client';
import type { WorkerConfig } from './config.ts';
import { createDatabaseClock } from './database-clock.ts';
import { createDeprecationHeaders } from './deprecation-headers.ts';
import { createHousekeeping } from './housekeeping.ts';
import { LoopHealth } from './loop-health.ts';
import { createLoop } from './loop.ts';
import { openMail } from './mail/open-mail.ts';
import { createWorkerMetrics } from './metrics.ts';
import { openStores } from './open-stores.ts';
import { createReporter, type WorkerAlarm } from './report-event.ts';
import { createSend } from './send.ts';
import { createTraceFanOut, traceSend } from './trace-deliveries.ts';

const appName = 'deedwire-webhook-worker';
// How often to check for changes without a notification: retired versions, expired records and the clock.
const watchIntervalMs = 30_000;
const alertIntervalMs = 10_000;
const mailIntervalMs = 5_000;

const monotonicMs = (): number => performance.now();

export interface WorkerOptions {
  service: Service;
  config: WorkerConfig;
  logger: Logger;
  metrics: Registry;
  /** Sent in the User-Agent of deliveries. */
  version: string;
  /** Null or omitted: nothing is traced. */
  tracing?: Tracing | null;
}

/** The hooks by which a service starts and stops the worker. */
export interface Worker {
  /** Returns what is missing before the worker can start, one sentence each. */
  readiness(): Promise<readonly string[]>;
  /** The settings with which the database can lose changes. */
  risks(): Promise<readonly DatabaseRisk[]>;
  /** The work that has failed for WORKER_UNREADY_AFTER_MS, one sentence each. */
  failures(): readonly string[];
  readonly database: Database;
  /** The pools of connections to the database, by name. */
  readonly pools: Readonly<Record<string, () => PoolState>>;
  /**
   * Starts to acquire shards. Call it when nothing is missing. If it throws, nothing has started and you can call it again.
   */
  start(): Promise<void>;
  /** Stops sending new deliveries. */
  stopAcceptingWork(): void;
  /** Resolves when all results are recorded and the worker's shards are released. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function createWorker(options: WorkerOptions): Worker {
  const { service, config, logger, metrics: registry, version, tracing = null } = options;
  const { GID_NAMESPACE: gidNamespace } = config;
  const { databaseUrl, directUrl, prepares } = storeConnections(config);
  const raiseAlarm = createAlarms<WorkerAlarm>(registry, logger);
  const storeLog = databaseLog(logger, raiseAlarm, config);
  const stores = openStores({ databaseUrl, directUrl, prepares, applicationName: appName, ...storeLog });
  const { store, fanOutStore, renewalStore } = stores;
  const clock = createDatabaseClock({ store, raiseAlarm, machine: { now: () => Date.now(), monotonicMs } });
  const sender = createWebhookSender({
    now: clock.now,
    policy: config.WEBHOOK_CALLBACK_POLICY,
    deniedRanges: config.WEBHOOK_DENIED_RANGES,
    nat64Prefix: config.WEBHOOK_NAT64_PREFIX,
    proxyUrl: config.WEBHOOK_PROXY_URL,
    userAgent: `${service.names.userAgent}/${version}`,
    headerPrefix: service.names.headerPrefix,
    maxIdleConnections: config.WORKER_CONCURRENCY,
    nodeTlsRejectUnauthorized: config.NODE_TLS_REJECT_UNAUTHORIZED,
  });
  const secretKeys = createSecretKeyRing(config.WEBHOOK_SECRET_KEYS);
  if (config.NODE_ENV === 'test') armFailpoint(config.DEEDWIRE_FAILPOINT);

  let queue: QueueState | null = null;
  const metrics = createWorkerMetrics(registry, () => ({ ...engine.stats(), breakers: engine.breakers, queue }));
  const loops = new LoopHealth({
    limitMs: config.WORKER_UNREADY_AFTER_MS,
    nowMs: monotonicMs,
    onFailed: (loop) => metrics.loopFailures.inc({ loop }),
  });
  const deprecationHeaders = createDeprecationHeaders(service.events, config.DOCUMENTATION_URL);
  const send = createSend({ service, sender, gidNamespace, deprecationHeaders });
  const sendMails = openMail({
    config,
    context: { store, service, gidNamespace, now: clock.now },
    logger,
    count: (result) => metrics.mails.inc({ result }),
  });
  const engine = createWebhookEngine({
    store,
    fanOutStore,
    renewalStore,
    directUrl: directUrl ?? databaseUrl,
    name: `${hostname()}/${process.pid}`,
    clock: { nowMs: clock.nowMs, setTimer },
    random: Math.random,
    renderer: createRenderer(service, gidNamespace),
    send: tracing === null ? send : traceSend(send, tracing, gidNamespace),
    traceFanOut: tracing === null ? undefined : createTraceFanOut(tracing, gidNamespace),
    openSecret(ciphertext, associatedData) {
      try {
        return secretKeys.decrypt(ciphertext, associatedData);
      } catch (error) {
        if (error instanceof SecretUnreadableError) return null;
        throw error;
      }
    },
    retiredVersions: () => retiredEventVersions(service, clock.now()),
    sendsMail: sendMails !== null,
    slots: config.WORKER_CONCURRENCY,
    leaseMs: config.WORKER_LEASE_MS,
    pollMs: config.POLL_INTERVAL_MS,
    retentionDays: config.WEBHOOK_RETENTION_DAYS,
    exchangeRetentionDays: config.WEBHOOK_EXCHANGE_RETENTION_DAYS,
    replayRetentionDays: config.WEBHOOK_REPLAY_RETENTION_DAYS,
    onEvent: createReporter({ logger, raiseAlarm, metrics, loops, gidNamespace, now: clock.now }),
  });
  const watches = [
    createLoop('clock', { logger, loops }, clock.read),
    createLoop('measure', { logger, loops }, async () => {
      queue = await engine.queueState();
    }),
    createLoop('retirement', { logger, loops }, () => engine.pauseRetired()),
    createHousekeeping({ store, logger, loops, auditRetentionDays: config.AUDIT_RETENTION_DAYS }),
  ];
  const alerts = createLoop('alerts', { logger, loops }, (signal) => engine.raiseAlerts(gidNamespace, signal));
  const mail = sendMails === null ? [] : [createLoop('mail', { logger, loops }, sendMails)];

  let intake: { stop(): Promise<void> } | null = null;
  function startIntake(): { stop(): Promise<void> } {
    // Behind a transaction pooler without a direct connection, LISTEN has no effect, and the worker polls.
    const listener =
      prepares === false && directUrl === undefined
        ? null
        : createListener({
            databaseUrl: directUrl ?? databaseUrl,
            applicationName: `${appName}-listen`,
            onWake: (payload) => engine.wake(payload),
            onError: storeLog.onError,
          });
    const watchTimer = setInterval(() => {
      for (const loop of watches) loop.wake();
    }, watchIntervalMs);
    for (const loop of [...watches, ...mail]) loop.wake();
    const alertTimer = setInterval(() => alerts.wake(), alertIntervalMs);
    const mailTimers = mail.map((loop) => setInterval(() => loop.wake(), mailIntervalMs));
    return {
      async stop() {
        clearInterval(watchTimer);
        clearInterval(alertTimer);
        for (const timer of mailTimers) clearInterval(timer);
        await listener?.close();
        await Promise.all([...watches, alerts, ...mail].map((loop) => loop.stop()));
      },
    };
  }

  return {
    async readiness() {
      const problems = await engine.problems(service);
      if (problems.length > 0) return problems;
      return [...(await findServiceProblems(store, { service, gidNamespace })), ...(await findLostStatements(store))];
    },
    risks: () => findDatabaseRisks(store),
    failures: () => [...describeLostStatements([store, fanOutStore, renewalStore]), ...loops.problems()],
    database: store,
    pools: { dispatch: store.poolState, 'fan-out': fanOutStore.poolState, lease: renewalStore.poolState },
    async start() {
      // Before the first delivery, because its signature contains the time.
      await clock.read();
      // Before the first delivery too: a wrong database is the worst mistake of a start.
      logger.info({ installation: gidNamespace, database: databaseAddress(databaseUrl) }, 'serves a database');
      await engine.start();
      intake = startIntake();
    },
    stopAcceptingWork: () => engine.stopClaiming(),
    async drain() {
      await intake?.stop();
      // The next owner repeats the attempts that cannot be recorded now.
      await engine.drain().catch((error: unknown) => logger.error({ err: error }, 'attempts not recorded'));
    },
    async close() {
      await sender.close();
      await stores.close();
    },
  };
}

/** Every retired version of every event type. The worker pauses the subscriptions that pin one of them. */
export function retiredEventVersions({ events }: Pick<Service, 'events'>, now: Date): EventTypePin[] {
  return events.flatMap(({ type, versions }) =>
    versions.filter((version) => isRetired(version, now)).map(({ version }) => ({ type, version })),
  );
}

/** Returns the function that cancels the timer. */
export function setTimer(callback: () => void, delayMs: number): () => void {
  // A timer of 0 ms would wait for 1 ms.
  if (delayMs === 0) {
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  }
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}
