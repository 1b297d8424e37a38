import type { IncomingMessage } from 'node:http';
import { doLater, logAt, type Logger, withChosenFields } from '@deedwire/service-runtime';
import type { ServedRequest } from '../request-metrics.ts';
import type { Exchange, RequestPlugin } from './exchange.ts';

export interface RequestLogOptions {
  logger: Logger;
  observe: (served: ServedRequest) => void;
}

/** Logs and counts each request, after its response. */
export function useRequestLog({ logger, observe }: RequestLogOptions): RequestPlugin {
  const requestLogger = withChosenFields(logger);

  function describe(exchange: Exchange): void {
    const { message, http, client, keyId, version, code, startedMs, isLogged } = exchange;
    const waitedMs = exchange.pauses?.waitedMs ?? 0;
    const line = {
      requestId: http.requestId,
      clientRequestId: isLogged ? undefined : readClientRequestId(message),
      clientId: client?.clientId,
      keyId,
      address: http.address,
      schemaVersion: version?.version,
      status: exchange.response?.status,
      code,
      durationMs: Math.round((performance.now() - startedMs - waitedMs) * 1000) / 1000,
    };
    exchange.afterwards = writeLater(line, exchange.causes, isLogged, waitedMs);
  }

  /** Runs after the response, so it gets values: what kept the exchange would let it survive until the next full collection. */
  function writeLater(
    line: ServedRequest & { requestId: string; clientId: string | undefined },
    causes: readonly unknown[],
    isLogged: boolean,
    waitedMs: number,
  ): () => void {
    return () => {
      const { requestId, clientId, code } = line;
      const level = code === 'INTERNAL_SERVER_ERROR' ? 'error' : 'warn';
      for (const err of causes) logger[level]({ requestId, clientId, code, err }, 'request failed');
      const endedMs = Date.now();
      const waited = waitedMs > 0 ? { waitedMs: Math.round(waitedMs) } : {};
      doLater(() => {
        observe(line);
        if (!isLogged) logAt(endedMs, () => requestLogger.info({ ...line, ...waited }, 'request'));
      });
    };
  }

  return {
    onResponse({ serverContext: { exchange } }) {
      // A page of GraphiQL has none.
      if (exchange) describe(exchange);
    },
  };
}

/** The client's own request id is only logged, because ours must be unique. */
function readClientRequestId({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-request-id'];
  return typeof value === 'string' && /^[!-~]{1,128}$/.test(value) ? value : undefined;
}
