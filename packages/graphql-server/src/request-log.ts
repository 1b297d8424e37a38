import {
  doLater,
  logAt,
  type Logger,
  type RaiseAlarm,
  type ServerAlarm,
  withChosenFields,
} from '@deedwire/service-runtime';
import { AccountAwayError, PublicationError } from '@deedwire/store';
import type { RefusalPace } from './cost/refusal-pace.ts';
import type { ServedRequest } from './request-metrics.ts';
import { present, type RequestState } from './request-state.ts';
import { loggableValue } from './transport/loggable-value.ts';

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

/**
 * Returns a function that delays the refusals of a client that has too few points. It returns what logs and counts the request, after its
 * response.
 */
export function createRequestLog({ logger, raiseAlarm, observe, pace, maxDelayMs }: RequestLogOptions) {
  const requestLogger = withChosenFields(logger);
  let lateRefusals = 0;

  async function delay({ http, caller, isDropped }: RequestState): Promise<void> {
    if (isDropped && lateRefusals < lateRefusalsMax) {
      lateRefusals += 1;
      await http.waitWhileOpen(maxDelayMs);
      lateRefusals -= 1;
    } else if (caller) {
      const delayMs = pace.next(caller.client.clientId, performance.now());
      if (delayMs > 0) await http.waitWhileOpen(delayMs);
    }
  }

  function describe(state: RequestState): () => void {
    const { message, http, caller, version, startedMs, isDropped } = state;
    const { response, code, causes, isLogged = false, isClientGone = false } = present(state.outcome);
    const waitedMs = state.context?.pauses?.waitedMs ?? 0;
    const hasLine = !isLogged && !isDropped;
    const isAway = causes.some((cause) => cause instanceof AccountAwayError);
    const line = {
      requestId: http.requestId,
      // The client's own is only logged, because ours must be unique.
      clientRequestId: hasLine ? loggableValue(message.headers['x-request-id']) : undefined,
      clientId: caller?.client.clientId,
      keyId: caller?.keyId,
      address: http.address,
      schemaVersion: version?.version,
      ...operationOf(state),
      status: response.status,
      code: isClientGone ? clientGone : isAway ? accountAway : code,
      durationMs: Math.round((performance.now() - startedMs - waitedMs) * 1000) / 1000,
    };
    return writeLater(line, causes, hasLine, waitedMs);
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

  return (state: RequestState): (() => void) | Promise<() => void> =>
    state.isDropped || state.account?.isRefused() === true ? delay(state).then(() => describe(state)) : describe(state);
}

const maxNameCharacters = 64;

/** What was charged: the hash and the name of the document tell what was read. Variables contain what clients write. */
function operationOf({ version, document, operation }: RequestState): { operation?: string; operationName?: string } {
  if (document === undefined || operation === undefined) return {};
  const hash = version?.documents.hashOf(document);
  const name = operation.name?.value.slice(0, maxNameCharacters);
  return { ...(hash !== undefined && { operation: hash }), ...(name !== undefined && { operationName: name }) };
}
