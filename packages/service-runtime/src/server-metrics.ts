import { Counter, type Registry } from 'prom-client';
import type { ConnectionLimit } from './http/open-connections.ts';
import type { RefusalCode } from './http/refusal.ts';
import { lineKinds } from './log-destination.ts';
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
    help: 'Refused connections by the limit that they exceeded: total (all connections), address (those of one address without a key), client (those of one client).',
    labelNames: ['limit'],
    registers,
  });
  const closed = new Counter({
    name: 'http_closed_idle_connections_total',
    help: 'Idle connections that were closed because a new one exceeded a limit: total (all connections), client (those of one client).',
    labelNames: ['limit'],
    registers,
  });
  const lines = new Counter({
    name: 'log_lines_dropped_total',
    help: 'Log lines that were dropped because standard output was not read fast enough, by kind: alarm, security (refused requests), other.',
    labelNames: ['kind'],
    collect() {
      this.reset();
      const dropped = droppedLogLines();
      for (const kind of lineKinds) this.inc({ kind }, dropped[kind]);
    },
    registers: [],
  });
  registry.registerMetric(lines);
  return {
    onRefused: (code: RefusalCode) => refused.inc({ code }),
    onConnectionLimit: (limit: ConnectionLimit) => connections.inc({ limit }),
    onIdleConnectionClosed: (limit: ConnectionLimit) => closed.inc({ limit }),
  };
}
