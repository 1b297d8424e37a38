import type { TestDatabase } from '@deedwire/embedded-postgres';
import { type InterfaceConfig, type ServedContract, startInterfaceService } from '@deedwire/graphql-server';
import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { createLogger, noDeniedRanges, noTrustedProxies, type RunningServer } from '@deedwire/service-runtime';
import type { WorkerConfig } from '@deedwire/webhook-worker/config';
import { createWorker, type Worker } from '@deedwire/webhook-worker/worker';
import { Registry } from 'prom-client';
import { pooled } from './start-test-apps.ts';

/**
 * Starts the apps in this process. A test uses this to pass a contract, or a configuration that the environment of an app
 * process cannot express.
 */
export interface AppsInProcess {
  startPartnerApi(config?: Partial<InterfaceConfig>, contract?: ServedContract): Promise<RunningServer>;
  startLenderApi(config?: Partial<InterfaceConfig>, contract?: ServedContract): Promise<RunningServer>;
  /** Resolves when the worker is ready. */
  startWorker(config?: Partial<WorkerConfig>): Promise<Worker>;
  stopWorker(worker: Worker): Promise<void>;
  /** Returns the metrics of the first worker, in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Stops all apps that this object started. */
  stopApps(): Promise<void>;
}

export function createAppsInProcess(database: TestDatabase, secretKeys: Map<string, Buffer>): AppsInProcess {
  const services: RunningServer[] = [];
  const workers = new Set<Worker>();
  const registry = new Registry();

  const common = {
    ADMIN_PORT: 0,
    ADMIN_HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    NODE_ENV: 'test',
    DEEDWIRE_COMMIT: 'unknown',
    DATABASE_TLS: 'required',
    GID_NAMESPACE: 'service',
    SLOW_STATEMENT_MS: 500,
    WEBHOOK_SECRET_KEYS: secretKeys,
    WEBHOOK_CALLBACK_POLICY: 'development',
    WEBHOOK_DENIED_RANGES: noDeniedRanges,
    DOCUMENTATION_URL: 'https://docs.example',
  } as const;

  async function startInterface(
    definition: typeof lenderInterface | typeof partnerInterface,
    contract: ServedContract,
    config: Partial<InterfaceConfig>,
  ): Promise<RunningServer> {
    const service = await startInterfaceService({
      ...definition,
      contract,
      appVersion: '0.0.0',
      config: {
        ...common,
        PORT: 0,
        HOST: '127.0.0.1',
        MAX_CONNECTIONS: 1000,
        MAX_CONNECTIONS_PER_ADDRESS: 100,
        MAX_CONNECTIONS_PER_CLIENT: 200,
        KEEP_ALIVE_TIMEOUT_MS: 65_000,
        ...pooled(await database.urlFor(definition.interfaceName === 'lender' ? 'lender_api' : 'partner_api')),
        DATABASE_TIMEOUT_MS: 20_000,
        TRUSTED_PROXIES: noTrustedProxies,
        GRAPHIQL_HEADERS: {},
        ...config,
      },
    });
    services.push(service);
    return service;
  }

  async function stopWorker(worker: Worker): Promise<void> {
    workers.delete(worker);
    worker.stopAcceptingWork();
    await worker.drain();
    await worker.close();
  }

  return {
    startPartnerApi: (config = {}, contract = partnerInterface.contract) =>
      startInterface(partnerInterface, contract, config),
    startLenderApi: (config = {}, contract = lenderInterface.contract) =>
      startInterface(lenderInterface, contract, config),
    async startWorker(config = {}) {
      const worker = createWorker({
        config: {
          ...common,
          ...pooled(await database.urlFor('webhook_worker')),
          POLL_INTERVAL_MS: 500,
          WORKER_CONCURRENCY: 256,
          WORKER_LEASE_MS: 15_000,
          WEBHOOK_RETENTION_DAYS: 30,
          WEBHOOK_EXCHANGE_RETENTION_DAYS: 7,
          WEBHOOK_REPLAY_RETENTION_DAYS: 90,
          AUDIT_RETENTION_DAYS: 400,
          WORKER_UNREADY_AFTER_MS: 60_000,
          ...config,
        },
        logger: createLogger({ name: 'test', level: 'silent' }),
        metrics: workers.size === 0 ? registry : new Registry(),
        version: 'test',
      });
      workers.add(worker);
      const problems = await worker.readiness();
      if (problems.length > 0) throw new Error(problems.join(' '));
      await worker.start();
      return worker;
    },
    stopWorker,
    metrics: () => registry.metrics(),
    async stopApps() {
      await Promise.all([...services.map((service) => service.stop()), ...[...workers].map(stopWorker)]);
    },
  };
}
