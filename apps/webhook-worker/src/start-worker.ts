import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Service } from '@deedwire/core';
import { createLogger, loadTracing, type RunningService, startService } from '@deedwire/service-runtime';
import { Registry } from 'prom-client';
import { readWorkerConfig } from './config.ts';
import { createWorker } from './worker.ts';

// `require`, because an import of a file outside of `src` does not compile.
const { version }: { version: string } = createRequire(import.meta.url)('../package.json');

export interface StartWorkerOptions {
  /** The URL of a module of the app. Its folder has `contracts.json`, which is that of the service. */
  app: string;
}

/** Starts the worker of a service. It also starts without its database, and becomes ready once that is reachable. */
export async function startWorker(service: Service, { app }: StartWorkerOptions): Promise<RunningService> {
  const config = readWorkerConfig(service);
  const logger = createLogger({ name: 'webhook-worker', level: config.LOG_LEVEL, service });
  const metrics = new Registry();
  const tracing = await loadTracing(version);
  const worker = createWorker({ service, config, logger, metrics, version, tracing });
  return startService({
    app: 'webhook-worker',
    version,
    config,
    logger,
    metrics,
    tracing,
    registration: {
      database: worker.database,
      app: 'webhook-worker',
      id: randomUUID(),
      contracts: new URL('contracts.json', app),
    },
    pools: worker.pools,
    readiness: () => worker.readiness(),
    risks: () => worker.risks(),
    failures: () => worker.failures(),
    onReady: () => worker.start(),
    stopAcceptingWork: () => worker.stopAcceptingWork(),
    drain: () => worker.drain(),
    close: () => worker.close(),
  });
}
