import { roleOf, type Service } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import {
  type InterfaceConfig,
  type InterfaceServiceOptions,
  readInterfaceConfig,
  type ServedContract,
  startInterfaceService,
} from '@deedwire/graphql-server';
import { createLogger, type RunningServer } from '@deedwire/service-runtime';
import { readWorkerConfig, type WorkerConfig } from '@deedwire/worker/config';
import { createWorker, type Worker } from '@deedwire/worker/worker';
import { Registry } from 'prom-client';
import type { NameOf } from '../../src/application.ts';
import { pooled } from './start-test-apps.ts';
import type { TestedApplication } from './tested-service.ts';

/** What the environment of an app cannot express. */
export type ServiceParts = Pick<InterfaceServiceOptions, 'logger' | 'portalFolder'>;

/**
 * Starts the apps in this process. A test uses this to pass a contract, or a configuration that the environment of an app
 * process cannot express.
 */
export function createAppsInProcess<Served extends Service>(
  { service, codeOf }: Pick<TestedApplication<Served>, 'codeOf' | 'service'>,
  database: TestDatabase,
  secretKeys: Map<string, Buffer>,
) {
  const services: RunningServer[] = [];
  const workers = new Set<Worker>();
  const registry = new Registry();

  const env = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    PORT: '0',
    ADMIN_PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_TIMEOUT_MS: '20000',
    DOCUMENTATION_URL: 'https://docs.example',
    WEBHOOK_SECRET_KEYS: Array.from(secretKeys, ([id, key]) => `${id}:${key.toString('base64')}`).join(),
    WEBHOOK_CALLBACK_POLICY: 'development',
  };

  async function startApi(
    name: NameOf<Served>,
    config: Partial<InterfaceConfig> = {},
    contract?: ServedContract,
    more: ServiceParts = {},
  ): Promise<RunningServer> {
    const code = await codeOf(name);
    const login = pooled(await database.urlFor(roleOf(name)));
    const defaults = readInterfaceConfig(service, name, { ...env, ...login });
    const running = await startInterfaceService<Served>({
      ...code,
      service,
      interfaceName: name,
      ...(contract && { contract }),
      appVersion: '0.0.0',
      config: { ...defaults, ...config },
      servesAdmin: true,
      ...more,
    });
    services.push(running);
    return running;
  }

  async function stopWorker(worker: Worker): Promise<void> {
    workers.delete(worker);
    worker.stopAcceptingWork();
    await worker.drain();
    await worker.close();
  }

  return {
    startApi,
    /** Resolves when the worker is ready. */
    async startWorker(config: Partial<WorkerConfig> = {}): Promise<Worker> {
      const login = pooled(await database.urlFor('webhook_worker'));
      if (workers.size === 0) registry.clear();
      const worker = createWorker({
        service,
        config: { ...readWorkerConfig(service, { ...env, WORKER_CONCURRENCY: '256', ...login }), ...config },
        logger: createLogger({ name: 'test', level: 'silent', service }),
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
    /** Returns the metrics of the first worker that runs, in the text format of Prometheus. */
    metrics: () => registry.metrics(),
    /** Stops all apps that this object started. */
    async stopApps(): Promise<void> {
      await Promise.all([...services.map((running) => running.stop()), ...[...workers].map(stopWorker)]);
    },
  };
}
