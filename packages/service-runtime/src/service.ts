import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { operatorCommand } from '@deedwire/core';
import type { DatabaseRisk, PoolState } from '@deedwire/store';
import { drawCell } from '@deedwire/store/processes';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import { noAddresses, trustedProxiesVariable } from './address-ranges.ts';
import { createAdminHandler, renderAdminRefusal } from './admin-handler.ts';
import { createAlarms, type ServerAlarm } from './alarms.ts';
import { hostVariable, wholeNumberVariable } from './config-variables.ts';
import { ConfigError } from './config.ts';
import { type DatabaseUrls, loopbackUrls } from './database-tls.ts';
import { type HttpLimits, httpLimits } from './http/http-limits.ts';
import type { HttpResponse } from './http/http-response.ts';
import { createHttpServer, type RequestContext } from './http/http-server.ts';
import type { RenderRefusal } from './http/refusal.ts';
import { doWaitingWork } from './late-work.ts';
import { type Logger, nameCell } from './logger.ts';
import { watchReadiness } from './readiness.ts';
import { type Registration, startRegistration } from './registration.ts';
import type { RuntimeConfig } from './runtime-config.ts';
import { createServerMetrics } from './server-metrics.ts';
import type { Tracing } from './tracing.ts';

export interface HandlerContext extends RequestContext {
  /** True once the service has become ready. Before that, the handler should respond with 503. */
  readonly ready: boolean;
}

/** The server for clients. It has its own port: `/health`, `/ready` and `/metrics` are not reachable on it. */
export interface ClientServer {
  config: ClientServerConfig;
  handle: (request: IncomingMessage, context: HandlerContext) => Promise<HttpResponse>;
  /** Creates the responses to requests that do not reach `handle`. */
  renderRefusal: RenderRefusal;
  /** Only tests use other values than the defaults. */
  limits?: Partial<HttpLimits>;
}

export interface ServiceOptions {
  /** The name of the app, for example `customer-api`. */
  app: string;
  /** Of its `package.json`. */
  version: string;
  config: RuntimeConfig & Partial<DatabaseUrls> & { DOCUMENTATION_URL?: string | undefined };
  logger: Logger;
  /** `startService` adds the process metrics to it if it serves them. */
  metrics: Registry;
  /** Whether it serves `/health`, `/ready` and `/metrics`, on ADMIN_PORT. Defaults to false. */
  servesAdmin?: boolean | undefined;
  /** How the process registers its build, from the moment at which it is ready. From then on, its metrics, log and spans name the cell. */
  registration?: Omit<Registration, 'version'>;
  tracing?: Tracing | null;
  /** The pools of connections to the database, by name, for the metrics. */
  pools?: Readonly<Record<string, () => PoolState>>;
  /**
   * Returns what is missing before the service can work, one sentence each. A pure check: it is repeated every 500 ms
   * until it returns nothing.
   */
  readiness: () => Promise<readonly string[]>;
  /** Returns the settings with which the database can lose changes, for a line of the log and the metrics. Called before `onReady`. */
  risks?: () => Promise<readonly DatabaseRisk[]>;
  /**
   * Returns what keeps the service from working although it has become ready, one sentence each: the service is unready while
   * there is something. For a service whose work does not come from requests. Called whenever readiness is asked for.
   */
  failures?: () => readonly string[];
  /**
   * Starts work that does not come from requests. Called once, as soon as nothing is missing; the service is ready when
   * it has returned. If it throws, the error is logged, the service stays unready, and it is called again after the next
   * check, so it must leave nothing running when it throws. Never called once the service is stopping.
   */
  onReady?: () => Promise<void> | void;
  /** Stops accepting new work. Requests are still served. */
  stopAcceptingWork?: () => void;
  /** Resolves when all work in progress is finished. `startService` waits for requests itself. */
  drain?: () => Promise<void>;
  /** Releases the service's resources. Called last, when nothing is running. */
  close: () => Promise<void>;
}

export interface RunningService {
  /** Of `/health`, `/ready` and `/metrics`. Empty unless it serves them. */
  adminUrl: string;
  logger: Logger;
  /** Resolves when the service has become ready. Never settles if the service is stopped before. */
  whenReady: Promise<void>;
  /** Unready, wait SHUTDOWN_DELAY_MS, stop accepting work, drain, close. Leaves no timer and no connection open. Can be called again. */
  stop: () => Promise<void>;
}

/** A service with a server for clients. */
export interface RunningServer extends RunningService {
  url: string;
  port: number;
}

/**
 * Listens, and serves `/health`, `/ready` and `/metrics` if it is asked to. Rejects when a port cannot be bound. Anything else that is missing
 * only keeps the service unready. It belongs to its program: it handles no signal and ends no process, as `runMain` does.
 */
export function startService(options: ServiceOptions & { clients: ClientServer }): Promise<RunningServer>;
export function startService(options: ServiceOptions): Promise<RunningService>;
export async function startService(
  options: ServiceOptions & { clients?: ClientServer },
): Promise<RunningService | RunningServer> {
  const { config, logger, metrics, failures = () => [], risks, stopAcceptingWork, drain, close } = options;
  const { registration, tracing, servesAdmin = false } = options;
  const readiness = watchReadiness({ check: options.readiness, failures, onReady, logger });
  async function onReady(): Promise<void> {
    if (registration) {
      // Read once: a database takes another number only while no app is connected.
      const cell = await drawCell(registration.database);
      metrics.setDefaultLabels({ cell });
      nameCell(logger, cell);
      if (tracing) tracing.cell = cell;
    }
    await options.onReady?.();
    if (registration) registered = startRegistration({ ...registration, version: options.version, logger });
    lookingForRisks = lookForRisks();
  }
  // Beside the start: on a busy database, the statements can take longer than an app waits for one.
  async function lookForRisks(): Promise<void> {
    try {
      const found = (await risks?.()) ?? [];
      for (const { subject } of found) serverMetrics.onDatabaseRisk(subject);
      const descriptions = found.map(({ description }) => description);
      if (found.length > 0) logger.warn({ risks: descriptions }, 'the database puts rows or webhooks at risk');
    } catch (error) {
      logger.warn(
        { err: error },
        `could not look for what puts rows or webhooks at risk: run ${operatorCommand()} database check`,
      );
    }
  }
  const serverMetrics = createServerMetrics(metrics, {
    build: { app: options.app, version: options.version, commit: config.DEEDWIRE_COMMIT },
    pools: options.pools ?? {},
    isReady: () => readiness.problems().length === 0,
    ofProcess: servesAdmin,
  });
  let stopping: Promise<void> | undefined;
  let registered: ReturnType<typeof startRegistration> | undefined;
  let lookingForRisks: Promise<void> | undefined;

  const common = { ...serverMetrics, logger, raiseAlarm: createAlarms<ServerAlarm>(metrics, logger) };
  const adminServer = servesAdmin
    ? createHttpServer({
        ...common,
        handle: createAdminHandler(metrics, readiness),
        renderRefusal: renderAdminRefusal,
        limits: httpLimits,
        trustedProxies: noAddresses,
      })
    : null;
  const clients = options.clients && createClientServer(options.clients);
  function createClientServer({ config: clientConfig, handle, renderRefusal, limits }: ClientServer) {
    const { PORT, HOST, TRUSTED_PROXIES } = clientConfig;
    const server = createHttpServer({
      ...common,
      handle: (request, context) => handle(request, { ...context, ready: readiness.wasReady() }),
      renderRefusal,
      limits: {
        ...httpLimits,
        connections: clientConfig.MAX_CONNECTIONS,
        connectionsPerAddress: clientConfig.MAX_CONNECTIONS_PER_ADDRESS,
        connectionsPerClient: clientConfig.MAX_CONNECTIONS_PER_CLIENT,
        keepAliveTimeout: clientConfig.KEEP_ALIVE_TIMEOUT_MS,
        ...limits,
      },
      trustedProxies: TRUSTED_PROXIES,
    });
    return { ...server, start: () => server.listen({ port: PORT, host: HOST }).catch(refuseAddress('HOST and PORT')) };
  }

  const stop = () => (stopping ??= stopInOrder());
  async function stopInOrder(): Promise<void> {
    for (const server of [adminServer, clients]) server?.stopKeepingAlive();
    await readiness.stop();
    // Load balancers ask /ready.
    await sleep(config.SHUTDOWN_DELAY_MS ?? (servesAdmin && config.NODE_ENV === 'production' ? 5000 : 0));
    stopAcceptingWork?.();
    await drain?.();
    await clients?.close();
    await adminServer?.close();
    await registered?.end();
    await lookingForRisks;
    await close();
    doWaitingWork();
    logger.info('stopped');
  }

  try {
    const ofAdmin = await adminServer
      ?.listen({ port: config.ADMIN_PORT, host: config.ADMIN_HOST })
      .catch(refuseAddress('ADMIN_HOST and ADMIN_PORT'));
    const listening = await clients?.start();
    logger.info({ url: listening?.url, adminUrl: ofAdmin?.url }, 'listening');
    const variables = loopbackUrls(config);
    if (variables.length > 0) logger.warn({ variables }, unencryptedLoopback);
    if (config.DOCUMENTATION_URL === undefined) logger.warn('DOCUMENTATION_URL is not set: nothing links to the pages');
    return { ...listening, adminUrl: ofAdmin?.url ?? '', logger, whenReady: readiness.whenReady, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const unencryptedLoopback =
  'the connection to the database on this machine is not encrypted: if a proxy or a tunnel listens there, it has to protect the way ' +
  'to the server, as docs/operations/backup.md#failover shows';

function refuseAddress(variables: string): (error: Error) => never {
  return ({ message }) => {
    throw new ConfigError([`${variables} must name an address on which this process can listen: ${message}`]);
  };
}

/** The variables of a process that serves clients. Spread them into the app's own object, and give PORT a default there. */
export const clientServerConfig = {
  /** 0 picks a free port. */
  PORT: wholeNumberVariable({ min: 0, max: 65_535 }),
  /** Defaults to every address of the machine. */
  HOST: hostVariable().optional(),
  /** All open connections. */
  MAX_CONNECTIONS: wholeNumberVariable({ min: 1, max: 1_000_000 }).default(httpLimits.connections),
  /** Open connections of one address without valid credentials. */
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumberVariable({ min: 1, max: 1_000_000 }).default(
    httpLimits.connectionsPerAddress,
  ),
  /** Open connections of one client. */
  MAX_CONNECTIONS_PER_CLIENT: wholeNumberVariable({ min: 1, max: 1_000_000 }).default(httpLimits.connectionsPerClient),
  /** How long an idle connection stays open. Longer than in the proxies between clients and the server. */
  KEEP_ALIVE_TIMEOUT_MS: wholeNumberVariable({ min: 5_000, max: 650_000 }).default(httpLimits.keepAliveTimeout),
  /** Whose `Forwarded` and `X-Forwarded-For` headers count, for example the addresses of load balancers. */
  TRUSTED_PROXIES: trustedProxiesVariable(),
};

export type ClientServerConfig = z.output<z.ZodObject<typeof clientServerConfig>>;
