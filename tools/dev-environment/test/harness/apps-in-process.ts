import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { appOf, roleOf } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { firm, type InterfaceName, interfaceNames } from '@deedwire/firm';
import {
  type InterfaceCode,
  type InterfaceConfig,
  type InterfaceServiceOptions,
  readInterfaceConfig,
  type ServedContract,
  startInterfaceService,
} from '@deedwire/graphql-server';
import { createLogger, type RunningServer } from '@deedwire/service-runtime';
import { readWorkerConfig, type WorkerConfig } from '@deedwire/webhook-worker/config';
import { createWorker, type Worker } from '@deedwire/webhook-worker/worker';
import { Registry } from 'prom-client';
import { workspaceRoot } from '../../src/workspace.ts';
import { pooled } from './start-test-apps.ts';

/** What each app of an interface serves. By path, because no package can depend on the interfaces that are added later. */
const definitions = new Map<InterfaceName, InterfaceCode>();
for (const name of interfaceNames) {
  const file = join(workspaceRoot, 'apps', appOf(name), `src/${name}-interface.ts`);
  const [definition]: InterfaceCode[] = Object.values(await import(pathToFileURL(file).href));
  if (definition !== undefined) definitions.set(name, definition);
}

/** What the environment of an app cannot express. */
type ServiceParts = Pick<InterfaceServiceOptions, 'logger' | 'portalFolder'>;

/**
 * Starts the apps in this process. A test uses this to pass a contract, or a configuration that the environment of an app
 * process cannot express.
 */
export function createAppsInProcess(database: TestDatabase, secretKeys: Map<string, Buffer>) {
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
    name: InterfaceName,
    config: Partial<InterfaceConfig> = {},
    contract?: ServedContract,
    more: ServiceParts = {},
  ): Promise<RunningServer> {
    const definition = definitions.get(name);
    if (definition === undefined) throw new Error(`${appOf(name)} exports no interface.`);
    const login = pooled(await database.urlFor(roleOf(name)));
    const defaults = readInterfaceConfig(firm, name, { ...env, ...login });
    const service = await startInterfaceService({
      ...definition,
      service: firm,
      interfaceName: name,
      ...(contract && { contract }),
      appVersion: '0.0.0',
      config: { ...defaults, ...config },
      ...more,
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
    startApi,
    startPartnerApi: (config?: Partial<InterfaceConfig>, contract?: ServedContract, more?: ServiceParts) =>
      startApi('partner', config, contract, more),
    startLenderApi: (config?: Partial<InterfaceConfig>, contract?: ServedContract, more?: ServiceParts) =>
      startApi('lender', config, contract, more),
    /** Resolves when the worker is ready. */
    async startWorker(config: Partial<WorkerConfig> = {}): Promise<Worker> {
      const login = pooled(await database.urlFor('webhook_worker'));
      if (workers.size === 0) registry.clear();
      const worker = createWorker({
        service: firm,
        config: { ...readWorkerConfig(firm, { ...env, WORKER_CONCURRENCY: '256', ...login }), ...config },
        logger: createLogger({ name: 'test', level: 'silent', service: firm }),
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
      await Promise.all([...services.map((service) => service.stop()), ...[...workers].map(stopWorker)]);
    },
  };
}
