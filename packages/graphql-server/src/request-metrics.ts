import type { InterfaceName } from '@deedwire/core';
import { doWaitingWork } from '@deedwire/service-runtime';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from './errors/error-table.ts';

export interface ServedRequest {
  /** Undefined when the request failed before a version was chosen. */
  schemaVersion: string | undefined;
  /** The code of the request's error, or of its failed fields. Null when nothing failed. Clients see ACCOUNT_AWAY as SERVICE_UNAVAILABLE. */
  code: ErrorCode | 'ACCOUNT_AWAY' | 'CLIENT_CLOSED_REQUEST' | null;
  durationMs: number;
}

/** Label values never come from the request, so that clients cannot create time series. */
export function createRequestMetrics(
  interfaceName: InterfaceName,
  registry: Registry,
): (served: ServedRequest) => void {
  const durations = new Histogram({
    name: 'deedwire_graphql_request_duration_seconds',
    help: 'Time from the request head to the response, by interface, schema version and outcome (an error code, ACCOUNT_AWAY, CLIENT_CLOSED_REQUEST or OK).',
    labelNames: ['interface', 'version', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
    collect: doWaitingWork, // observes requests
  });
  return ({ schemaVersion = 'none', code, durationMs }) =>
    durations.observe({ interface: interfaceName, version: schemaVersion, outcome: code ?? 'OK' }, durationMs / 1000);
}

export function createParsedDocuments(registry: Registry): Counter<'interface' | 'result'> {
  return new Counter({
    name: 'deedwire_documents_parsed_total',
    help: 'Documents that were parsed because they were not cached, by interface and result (valid or rejected).',
    labelNames: ['interface', 'result'],
    registers: [registry],
  });
}
