import { randomUUID } from 'node:crypto';
import { type ActionContext, findApiKey, findWorkersToReplace, recordApiKeyUse, systemRandom } from '@deedwire/actions';
import { createAuthenticator } from '@deedwire/auth';
import { appOf, type InterfaceName, interfaceOf, requestHeaders, roleOf, type Service } from '@deedwire/core';
import {
  createAlarms,
  createLogger,
  databaseLog,
  type Logger,
  loadTracing,
  type RunningServer,
  type ServerAlarm,
  startService,
  storeConnections,
} from '@deedwire/service-runtime';
import {
  createSecretKeyRing,
  createStore,
  describeLostStatements,
  findDatabaseRisks,
  findLostStatements,
  findServiceProblems,
  requestTimeouts,
} from '@deedwire/store';
import { createRenderer } from '@deedwire/webhook-rendering';
import { createWebhookSender } from '@deedwire/webhook-sender';
import { checkDatabaseOfApps, describeCheckOfApps } from '@deedwire/webhooks/check-database';
import { Registry } from 'prom-client';
import { openCostBuckets } from './cost/open-cost-buckets.ts';
import { documentationAt } from './documentation.ts';
import { createGraphiql } from './graphiql/graphiql.ts';
import { createGraphqlHandler } from './graphql-handler.ts';
import type { InterfaceConfig } from './interface-config.ts';
import type { InterfacePlugin } from './plugins/interface-plugin.ts';
import { useTraces } from './plugins/use-traces.ts';
import { openPortal } from './portal/portal.ts';
import { requestLimits } from './request-limits.ts';
import { createClientStores } from './schema/client-stores.ts';
import { createOperationContext, type InterfaceActionContext } from './schema/operation-context.ts';
import { createRefusalRenderer } from './transport/response.ts';
import { openUseRecord } from './use/open-use-record.ts';
import { deprecatedIn } from './use/used-coordinates.ts';
import type { ServedContract } from './versions/serve-contract.ts';
import { openPull } from './webhooks/open-pull.ts';

/** What only the app of an interface loads. */
export interface InterfaceCode {
  contract: ServedContract;
  /** The folder of the examples of its operations, for GraphiQL. Defaults to none. */
  examples?: string;
  /** Plugins of Envelop and Yoga, in the order in which their hooks run. Called for each version. Defaults to none. */
  plugins?: () => readonly InterfacePlugin[];
  /** `create` of `ownContext`, if the resolvers of the interface need more than all have. */
  context?: (base: ActionContext) => object;
}

export interface InterfaceServiceOptions<Served extends Service = Service> extends InterfaceCode {
  service: Served;
  interfaceName: InterfaceName & keyof Served['interfaces'];
  config: InterfaceConfig;
  /** The folder of the built pages of the portal. Defaults to that of their package. */
  portalFolder?: string;
  /** Defaults to one that writes to standard output. */
  logger?: Logger;
  /** Sent in the User-Agent of handshakes. */
  appVersion: string;
  /** The file that `pnpm build` writes. */
  contracts?: URL | (() => Promise<string>);
  /** Whether it serves `/health`, `/ready` and `/metrics`, on ADMIN_PORT. Defaults to false. */
  servesAdmin?: boolean | undefined;
}

const now = (): Date => new Date();

/** Of the 10 connections to the database, so that others find some of them free. */
const connectionsPerClient = 6;

/** As `startInterface`, with a configuration that was read. It also starts without its database, and becomes ready once that is reachable. */
export async function startInterfaceService<Served extends Service>(
  options: InterfaceServiceOptions<Served>,
): Promise<RunningServer> {
  const { service, interfaceName, contract, config } = options;
  const name = appOf(interfaceName);
  const { path: interfacePath } = interfaceOf(service, interfaceName);
  const path = `${interfacePath}/graphql`;
  const tracing = await loadTracing(options.appVersion);
  const plugins = (): readonly InterfacePlugin[] => [
    ...(tracing === null ? [] : [useTraces(tracing, interfaceName)]),
    ...(options.plugins?.() ?? []),
  ];
  const { logger = createLogger({ name, level: config.LOG_LEVEL, service }) } = options;
  const metrics = new Registry();
  const documentation = documentationAt(config.DOCUMENTATION_URL);

  const shared = {
    ...storeConnections(config),
    timeouts: requestTimeouts(config.DATABASE_TIMEOUT_MS),
    ...databaseLog(logger, createAlarms<ServerAlarm>(metrics, logger), config),
  };
  const store = createStore({ ...shared, tables: service.tables, applicationName: `deedwire-${name}` });
  // For keys that are not known to be valid: anyone can cause such lookups, so they have few, separate connections.
  const unprovenKeyStore = createStore({ ...shared, applicationName: `deedwire-${name}-keys`, maxConnections: 2 });
  // Charges wait for settlements, so nothing else uses these connections.
  const costStore = createStore({
    ...shared,
    // An export takes the name `-costs` for that of a release that does not register.
    applicationName: `deedwire-${name}-points`,
    maxConnections: 2,
    staysOpen: true,
  });
  const costs = openCostBuckets({ interfaceName, database: costStore, logger, metrics });
  const process = { app: name, id: randomUUID() } as const;
  const coordinates = contract.versions.flatMap(({ version, schema }) =>
    deprecatedIn(schema).map((coordinate) => `${version} ${coordinate}`),
  );
  const uses = openUseRecord({ process, database: store, logger, coordinates });
  const sender = createWebhookSender({
    now,
    policy: config.WEBHOOK_CALLBACK_POLICY,
    deniedRanges: config.WEBHOOK_DENIED_RANGES,
    nat64Prefix: config.WEBHOOK_NAT64_PREFIX,
    proxyUrl: config.WEBHOOK_PROXY_URL,
    userAgent: `${service.names.userAgent}/${options.appVersion}`,
    headerPrefix: service.names.headerPrefix,
    nodeTlsRejectUnauthorized: config.NODE_TLS_REJECT_UNAUTHORIZED,
  });
  const pull = openPull({ store, interfaceName, logger, metrics });
  const base = { store, service, gidNamespace: config.GID_NAMESPACE, now, random: systemRandom };
  const storeOf = createClientStores({ store, perClient: connectionsPerClient, maxWaitMs: requestLimits.operationMs });
  const portal = await openPortal({
    interfaceName,
    config,
    folder: options.portalFolder,
    versions: contract.versions,
    actions: base,
    unprovenActions: { ...base, store: unprovenKeyStore },
    actionsOf: (clientId) => ({ ...base, store: storeOf(clientId) }),
    bodyMs: requestLimits.bodyMs,
    logger,
  });
  const actions: InterfaceActionContext = {
    ...base,
    ...options.context?.(base),
    ...pull.context,
    portalOrigin: portal?.origin ?? null,
    webhookEgressAddresses: config.WEBHOOK_EGRESS_ADDRESSES,
    renderer: createRenderer(service, config.GID_NAMESPACE),
    sender,
    reportHostProblem: (problem) => logger.info(problem, 'callback host refused'),
    secretKeys: createSecretKeyRing(config.WEBHOOK_SECRET_KEYS),
  };

  const authenticator = createAuthenticator({
    service,
    interfaceName,
    now,
    findApiKey: (keyId, isProven) => findApiKey(isProven ? actions : { ...actions, store: unprovenKeyStore }, keyId),
  });

  const handle = createGraphqlHandler({
    service,
    interfaceName,
    path,
    versions: contract.versions,
    plugins,
    authenticator,
    buckets: costs.buckets,
    countUse: uses.count,
    recordKeyUse(use) {
      recordApiKeyUse(actions, use).catch((error: unknown) => {
        logger.warn({ err: error, keyId: use.keyId }, 'could not record the last use of an API key');
      });
    },
    createContext: (request) =>
      createOperationContext({ ...actions, store: storeOf(request.client.clientId) }, request),
    logger,
    metrics,
    documentation,
    now,
    portal,
    graphiql:
      config.NODE_ENV === 'development'
        ? createGraphiql({
            path,
            title: `The ${interfaceName} interface of Deedwire`,
            versions: contract.versions,
            example: { folder: options.examples ?? null, name: `${interfaceName}.graphql` },
            headers: config.GRAPHIQL_HEADERS,
            versionHeader: requestHeaders(service).schemaVersion,
            logger,
          })
        : undefined,
  });

  /** Those that were logged last. */
  let workerWarnings: readonly string[] = [];

  return startService({
    app: name,
    version: options.appVersion,
    config,
    logger,
    metrics,
    servesAdmin: options.servesAdmin,
    tracing,
    ...(options.contracts && { registration: { ...process, database: store, contracts: options.contracts } }),
    pools: { requests: store.poolState, keys: unprovenKeyStore.poolState, costs: costStore.poolState },
    clients: {
      config,
      handle,
      renderRefusal: createRefusalRenderer(documentation),
    },
    async readiness() {
      const ofDatabase = describeCheckOfApps(await checkDatabaseOfApps(store, service, roleOf(interfaceName)));
      if (ofDatabase.length > 0) return [...contract.problems, ...ofDatabase];
      const ofService = await findServiceProblems(store, { service, gidNamespace: config.GID_NAMESPACE });
      const ofWorkers = await findWorkersToReplace({ store, service }, [interfaceName]);
      if (ofWorkers.warnings.join() !== workerWarnings.join() && ofWorkers.warnings.length > 0)
        logger.warn({ warnings: ofWorkers.warnings }, 'events of this interface can wait for another worker');
      workerWarnings = ofWorkers.warnings;
      return [...contract.problems, ...ofService, ...ofWorkers.problems, ...(await findLostStatements(store))];
    },
    failures: () => describeLostStatements([store, unprovenKeyStore, costStore]),
    risks: () => findDatabaseRisks(store),
    onReady: () => uses.start(),
    stopAcceptingWork: () => pull.release(),
    async close() {
      await uses.close();
      await sender.close();
      costs.close();
      await costStore.close();
      await unprovenKeyStore.close();
      await store.close();
    },
  });
}
