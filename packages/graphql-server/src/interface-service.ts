import { findApiKey, recordApiKeyUse, systemRandom, type WebhookActionContext } from '@deedwire/actions';
import { createAuthenticator, type InterfaceName } from '@deedwire/auth';
import { createLogger, type RunningService, startService } from '@deedwire/service-runtime';
import { createSecretKeyRing, createStore, describeDatabaseProblems } from '@deedwire/store';
import { createWebhookSender } from '@deedwire/webhook-sender';
import { Registry } from 'prom-client';
import { documentationAt } from './documentation.ts';
import { createGraphqlHandler } from './graphql-handler.ts';
import type { InterfaceConfig } from './interface-config.ts';
import { createOperationContext } from './schema/operation-context.ts';
import type { ServedContract } from './versions/serve-contract.ts';

export interface InterfaceServiceOptions {
  /** The app's name, in logs and in the database's list of sessions. */
  name: string;
  interfaceName: InterfaceName;
  /** Where it is served, for example `/lenders/graphql`. */
  path: string;
  contract: ServedContract;
  config: InterfaceConfig;
  /** The app's own, for the User-Agent of verification requests. */
  appVersion: string;
}

/** Starts the app of one interface. Without its database it starts too, and becomes ready when that has come. */
export async function startInterfaceService(options: InterfaceServiceOptions): Promise<RunningService> {
  const { name, interfaceName, path, contract, config } = options;
  const logger = createLogger({ name, level: config.LOG_LEVEL });
  const metrics = new Registry();

  const applicationName = `deedwire-${name}`;
  const onError = (error: unknown) => logger.warn({ err: error }, 'a database connection broke');
  const store = createStore({
    databaseUrl: config.DATABASE_URL,
    directUrl: config.DATABASE_DIRECT_URL,
    applicationName,
    onError,
    onNotifyError: onError,
    slowStatement: {
      thresholdMs: config.SLOW_STATEMENT_MS,
      onSlow: ({ name: statement, ...slow }) => logger.warn({ statement, ...slow }, 'slow statement'),
    },
  });
  const sender = createWebhookSender({
    policy: config.WEBHOOK_CALLBACK_POLICY,
    userAgent: `Deedwire-Webhooks/${options.appVersion}`,
    nodeTlsRejectUnauthorized: config.NODE_TLS_REJECT_UNAUTHORIZED,
  });
  const actions: WebhookActionContext = {
    store,
    gidNamespace: config.GID_NAMESPACE,
    now: () => new Date(),
    random: systemRandom,
    sender,
    callbackPolicy: config.WEBHOOK_CALLBACK_POLICY,
    secretKeys: createSecretKeyRing(config.WEBHOOK_SECRET_KEYS),
  };

  const authenticator = createAuthenticator({
    interfaceName,
    findApiKey: (keyId) => findApiKey(actions, keyId),
    recordUse(keyId, at) {
      recordApiKeyUse(actions, keyId, at).catch((error: unknown) => {
        logger.warn({ err: error, keyId }, 'the last use of a key was not recorded');
      });
    },
  });

  return startService({
    config,
    logger,
    metrics,
    handle: createGraphqlHandler({
      interfaceName,
      path,
      versions: contract.versions,
      authenticator,
      createContext: (request) => createOperationContext(actions, request),
      logger,
      metrics,
      documentation: documentationAt(config.DOCUMENTATION_URL),
    }),
    readiness: async () => [...contract.problems, ...(await describeDatabaseProblems(store))],
    async close() {
      await sender.close();
      await store.close();
    },
  });
}
