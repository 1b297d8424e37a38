import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { closeServer, createHttpServer, listen } from './http-server.ts';
import type { Logger } from './logger.ts';
import { type Readiness, watchReadiness } from './readiness.ts';
import { requestPath } from './request-path.ts';
import type { RuntimeConfig } from './runtime-config.ts';
import { stopOnSignal } from './stop-on-signal.ts';

export interface ServiceState {
  /** True once the service has become ready. Before that, the handler should respond with 503. */
  readonly ready: boolean;
}

export interface ServiceOptions {
  config: RuntimeConfig;
  logger: Logger;
  /** `startService` adds the process metrics to it. */
  metrics: Registry;
  /** Handles every path except `/health`, `/ready` and `/metrics`. Without a handler, other paths are 404. */
  handle?: (request: IncomingMessage, response: ServerResponse, state: ServiceState) => Promise<void>;
  /**
   * Returns what is missing before the service can work, one sentence each. A pure check: it is repeated every 500 ms
   * until it returns nothing.
   */
  readiness: () => Promise<readonly string[]>;
  /**
   * Starts work that does not come from requests. Called once, as soon as nothing is missing; the service is ready when
   * it has returned. If it throws, the error is logged, the service stays unready, and it is called again after the next
   * check, so it must leave nothing running when it throws. Never called once the service is stopping.
   */
  onReady?: () => Promise<void> | void;
  /** Stops taking new work. Requests are still served. */
  stopTakingWork?: () => void;
  /** Resolves when all work in progress is finished. `startService` waits for requests itself. */
  drain?: () => Promise<void>;
  /** Releases the service's resources. Called last, when nothing is running. */
  close: () => Promise<void>;
}

export interface RunningService {
  url: string;
  port: number;
  /** Resolves when the service has become ready. Never settles if the service is stopped before. */
  whenReady: Promise<void>;
  /** Does what a signal does, except for the exit: unready, wait SHUTDOWN_DELAY_MS, stop taking work, drain, close. */
  stop: () => Promise<void>;
}

/**
 * Listens, serves `/health`, `/ready` and `/metrics`, and stops in order on SIGTERM or SIGINT. Rejects when the port
 * cannot be bound. Anything else that is missing only keeps the service unready.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config, logger, metrics, onReady = () => {}, stopTakingWork, drain, close } = options;
  collectDefaultMetrics({ register: metrics });

  const readiness = watchReadiness({ check: options.readiness, onReady, logger });
  let stopping: Promise<void> | undefined;

  const inFlight = new Set<ServerResponse>();

  const server = createHttpServer((request, response) => {
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
    if (stopping) response.setHeader('Connection', 'close');
    respond(options, readiness, request, response).catch((error: unknown) => {
      logger.error({ err: error }, 'request handler failed');
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: 'Internal error.' });
    });
  });

  const stop = () => (stopping ??= stopInOrder());
  const ignoreSignals = stopOnSignal(stop, logger);
  async function stopInOrder(): Promise<void> {
    await readiness.stop();
    await sleep(config.SHUTDOWN_DELAY_MS ?? (config.NODE_ENV === 'production' ? 5000 : 0));
    stopTakingWork?.();
    await drain?.();
    if (server.listening) await closeServer(server, () => inFlight.size > 0);
    await close();
    ignoreSignals();
    logger.info('stopped');
  }

  try {
    const { url, port } = await listen(server, config);
    logger.info({ url }, 'listening');
    return { url, port, whenReady: readiness.whenReady, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function respond(
  { handle, metrics }: ServiceOptions,
  readiness: Readiness,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (requestPath(request)) {
    case '/health':
      return sendJson(response, 200, { healthy: true });
    case '/ready': {
      const problems = readiness.problems();
      const ready = problems.length === 0;
      return sendJson(response, ready ? 200 : 503, { ready, problems });
    }
    case '/metrics': {
      const text = await metrics.metrics();
      response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
      return;
    }
    default:
      if (!handle) return sendJson(response, 404, { error: 'This path does not exist.' });
      await handle(request, response, { ready: readiness.wasReady() });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}
