import { Counter, type Registry } from 'prom-client';
import type { RefusalCode } from './http/refusal.ts';
import { droppedLogLines } from './logger.ts';

/** The metrics that every service has besides those of the process. */
export function createServerMetrics(registry: Registry) {
  const registers = [registry];
  const refused = new Counter({
    name: 'http_refused_requests_total',
    help: 'Requests that were refused before any handler saw them, by error code.',
    labelNames: ['code'],
    registers,
  });
  const connections = new Counter({
    name: 'http_refused_connections_total',
    help: 'Connections beyond a limit: total (all connections), address (connections of one address without a key).',
    labelNames: ['limit'],
    registers,
  });
  const lines = new Counter({
    name: 'log_lines_dropped_total',
    help: 'Log lines that were dropped because standard output was not read fast enough.',
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
    registers: [],
  });
  registry.registerMetric(lines);
  return {
    onRefused: (code: RefusalCode) => refused.inc({ code }),
    onConnectionLimit: (limit: 'total' | 'address') => connections.inc({ limit }),
  };
}
