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
  /** Whether everything that the service needs was there once. Until then the handler should answer 503. */
  readonly ready: boolean;
}

export interface ServiceOptions {
  config: RuntimeConfig;
  logger: Logger;
  /** Process metrics are added to it. */
  metrics: Registry;
  /** Answers every path but `/health`, `/ready` and `/metrics`. Without it they are 404. */
  handle?: (request: IncomingMessage, response: ServerResponse, state: ServiceState) => Promise<void>;
  /** What is missing before the service can work, one sentence each. Asked again and again until there is nothing. */
  readiness: () => Promise<readonly string[]>;
  /** Begins nothing new. Requests are still answered. */
  stopTakingWork?: () => void;
  /** Settles when everything begun is finished; requests are waited for without it. */
  drain?: () => Promise<void>;
  /** Lets go of what the service holds. Nothing is running any more. */
  close: () => Promise<void>;
}

export interface RunningService {
  url: string;
  port: number;
  /** Resolves when the service has become ready. Does not settle when it is stopped before. */
  whenReady: Promise<void>;
  /** What a signal does, without the exit: unready, wait SHUTDOWN_DELAY_MS, stop taking work, drain, close. */
  stop: () => Promise<void>;
}

/**
 * Listens, reports on `/health`, `/ready` and `/metrics`, and stops in order on SIGTERM or SIGINT. Rejects when it cannot
 * listen; what else is missing makes it unready only.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config, logger, metrics, stopTakingWork, drain, close } = options;
  collectDefaultMetrics({ register: metrics });

  const readiness = watchReadiness(options.readiness, logger);
  let stopping: Promise<void> | undefined;

  const underWay = new Set<ServerResponse>();

  const server = createHttpServer((request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    if (stopping) response.setHeader('Connection', 'close');
    answer(options, readiness, request, response).catch((error: unknown) => {
      logger.error({ err: error }, 'request handler failed');
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: 'Internal error.' });
    });
  });

  const stop = () => (stopping ??= stopInOrder());
  const ignoreSignals = stopOnSignal(stop, logger);
  async function stopInOrder(): Promise<void> {
    readiness.stop();
    await sleep(config.SHUTDOWN_DELAY_MS ?? (config.NODE_ENV === 'production' ? 5000 : 0));
    stopTakingWork?.();
    await drain?.();
    if (server.listening) await closeServer(server, () => underWay.size > 0);
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

async function answer(
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
      if (!handle) return sendJson(response, 404, { error: 'There is nothing here.' });
      await handle(request, response, { ready: readiness.wasReady() });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}
