import {
  doLater,
  logAt,
  type Logger,
  type RaiseAlarm,
  type ServerAlarm,
  withChosenFields,
} from '@deedwire/service-runtime';
import { AccountAwayError, PublicationError } from '@deedwire/store';
import { getOperationAST } from 'graphql';
import type { RefusalPace } from '../cost/refusal-pace.ts';
import type { ServedRequest } from '../request-metrics.ts';
import { loggableValue } from '../transport/loggable-value.ts';
import type { RequestState, RequestPlugin } from './request-state.ts';

export interface RequestLogOptions {
  logger: Logger;
  raiseAlarm: RaiseAlarm<ServerAlarm>;
  observe: (served: ServedRequest) => void;
  pace: RefusalPace;
  maxDelayMs: number;
}

/** The maximum of delayed responses to dropped requests. Behind a proxy, each of them occupies a connection. */
const lateRefusalsMax = 500;

/** In place of an error code. nginx has the status 499 for the first one. */
const clientGone = 'CLIENT_CLOSED_REQUEST' as const;
const accountAway = 'ACCOUNT_AWAY' as const;

/** Delays the refusals of a client that has too few points. Then logs and counts each request, after its response. */
export function useRequestLog({ logger, raiseAlarm, observe, pace, maxDelayMs }: RequestLogOptions): RequestPlugin {
  const requestLogger = withChosenFields(logger);
  let lateRefusals = 0;

  async function delay({ http, client, isDropped }: RequestState): Promise<void> {
    if (isDropped && lateRefusals < lateRefusalsMax) {
      lateRefusals += 1;
      await http.waitWhileOpen(maxDelayMs);
      lateRefusals -= 1;
    } else if (client) {
      const delayMs = pace.next(client.clientId, performance.now());
      if (delayMs > 0) await http.waitWhileOpen(delayMs);
    }
  }

  function describe(state: RequestState): void {
    const { message, http, client, keyId, version, causes, startedMs, isLogged, isDropped } = state;
    const waitedMs = state.pauses?.waitedMs ?? 0;
    const hasLine = !isLogged && !isDropped;
    const code = causes.some((cause) => cause instanceof AccountAwayError) ? accountAway : state.code;
    const line = {
      requestId: http.requestId,
      // The client's own is only logged, because ours must be unique.
      clientRequestId: hasLine ? loggableValue(message.headers['x-request-id']) : undefined,
      clientId: client?.clientId,
      keyId,
      address: http.address,
      schemaVersion: version?.version,
      ...operationOf(state),
      status: state.response?.status,
      code: state.isClientGone ? clientGone : code,
      durationMs: Math.round((performance.now() - startedMs - waitedMs) * 1000) / 1000,
    };
    state.afterwards = writeLater(line, causes, hasLine, waitedMs);
  }

  /** Runs after the response, so it gets values: what kept the request would let it survive until the next full collection. */
  function writeLater(
    line: ServedRequest & { requestId: string; clientId: string | undefined },
    causes: readonly unknown[],
    hasLine: boolean,
    waitedMs: number,
  ): () => void {
    return () => {
      const { requestId, clientId, code } = line;
      for (const err of causes) {
        const details = { requestId, clientId, code, err };
        if (err instanceof PublicationError) raiseAlarm('publication-refuses', details);
        else if (code === 'INTERNAL_SERVER_ERROR') raiseAlarm('request-broken', details);
        else logger.warn(details, 'request failed');
      }
      const endedMs = Date.now();
      const waited = waitedMs > 0 ? { waitedMs: Math.round(waitedMs) } : {};
      doLater(() => {
        observe(line);
        if (hasLine) logAt(endedMs, () => requestLogger.info({ ...line, ...waited }, 'request'));
      });
    };
  }

  return {
    onResponse({ serverContext: { requestState: state } }) {
      // A page of GraphiQL has none.
      if (!state) return undefined;
      if (state.isDropped || state.account?.isRefused()) return delay(state).then(() => describe(state));
      return describe(state);
    },
  };
}

const maxNameCharacters = 64;

/** What was executed: the hash and the name of the document tell what was read. Variables contain what clients write. */
function operationOf({ version, document, execution }: RequestState): { operation?: string; operationName?: string } {
  if (document === undefined || execution === undefined) return {};
  const operation = version?.documents.hashOf(document);
  const { document: executed, operationName } = execution.args;
  const name = getOperationAST(executed, operationName)?.name?.value.slice(0, maxNameCharacters);
  return { ...(operation !== undefined && { operation }), ...(name !== undefined && { operationName: name }) };
}
