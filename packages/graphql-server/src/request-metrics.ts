import type { InterfaceName } from '@deedwire/auth';
import { Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from './errors/error-table.ts';

export interface ServedRequest {
  interfaceName: InterfaceName;
  /** Undefined when the request failed before one was chosen. */
  schemaVersion: string | undefined;
  /** The code of its failure, or of a field that failed. */
  code: ErrorCode | null;
  durationMs: number;
}

/** Labels take only values of ours, so that no client can make up series. */
export function createRequestMetrics(registry: Registry): (served: ServedRequest) => void {
  const durations = new Histogram({
    name: 'graphql_request_duration_seconds',
    help: 'From the complete request head to the answer, by interface, schema version and outcome code.',
    labelNames: ['interface', 'version', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return ({ interfaceName, schemaVersion = 'none', code, durationMs }) => {
    durations.observe({ interface: interfaceName, version: schemaVersion, outcome: code ?? 'OK' }, durationMs / 1000);
  };
}
