import type { PoolState } from '@deedwire/store';
import { collectDefaultMetrics, Counter, Gauge, type Registry } from 'prom-client';
import type { ConnectionLimit } from './http/open-connections.ts';
import type { RefusalCode } from './http/refusal.ts';
import { lineKinds } from './log-destination.ts';
import { droppedLogLines } from './logger.ts';

/** What a process runs. */
export interface Build {
  /** For example `customer-api`. */
  app: string;
  /** Of its `package.json`. */
  version: string;
  commit: string;
}

export interface ServerMetricsOptions {
  build: Build;
  /** The pools of connections to the database, by name. */
  pools: Readonly<Record<string, () => PoolState>>;
  isReady: () => boolean;
  /** Whether to measure the process, which an observer of Node does until the process ends. */
  ofProcess: boolean;
}

/** Gauges with names of counters. Others have the same numbers by type. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** The metrics that every service has. */
export function createServerMetrics(registry: Registry, { build, pools, isReady, ofProcess }: ServerMetricsOptions) {
  const registers = [registry];
  if (ofProcess) collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  new Gauge({
    name: 'deedwire_build_info',
    help: 'Always 1. The labels are the app, its version and the commit from which it was built.',
    labelNames: ['app', 'version', 'commit'],
    registers,
  }).set({ ...build }, 1);
  registry.registerMetric(
    new Gauge({
      name: 'deedwire_ready',
      help: '1 while /ready answers 200, else 0.',
      collect() {
        this.set(isReady() ? 1 : 0);
      },
      registers: [],
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'deedwire_database_connections',
      help: 'Open connections to the database by pool and state: in_use, idle.',
      labelNames: ['pool', 'state'],
      collect() {
        for (const [pool, read] of Object.entries(pools)) {
          const { inUse, idle } = read();
          this.set({ pool, state: 'in_use' }, inUse);
          this.set({ pool, state: 'idle' }, idle);
        }
      },
      registers: [],
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'deedwire_database_waiting',
      help: 'Statements and transactions that wait for a connection, by pool.',
      labelNames: ['pool'],
      collect() {
        for (const [pool, read] of Object.entries(pools)) this.set({ pool }, read().waiting);
      },
      registers: [],
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'deedwire_database_certificate_end_seconds',
      help: 'When the certificate ends that the database presented last, in seconds since 1970, by pool. Absent without TLS.',
      labelNames: ['pool'],
      collect() {
        for (const [pool, read] of Object.entries(pools)) {
          const { certificateEndsAt } = read();
          if (certificateEndsAt !== null) this.set({ pool }, certificateEndsAt.getTime() / 1000);
        }
      },
      registers: [],
    }),
  );
  const risks = new Gauge({
    name: 'deedwire_database_risks',
    help: '1 for each setting of PostgreSQL that puts rows or webhooks at risk, as read at the start: fsync, full_page_writes, synchronous_commit, collation, publication.',
    labelNames: ['setting'],
    registers,
  });
  const refused = new Counter({
    name: 'deedwire_http_refused_requests_total',
    help: 'Requests that were refused before any handler saw them, by error code.',
    labelNames: ['code'],
    registers,
  });
  const connections = new Counter({
    name: 'deedwire_http_refused_connections_total',
    help: 'Refused connections by the limit that they exceeded: total (all connections), address (those of one address without a key), client (those of one client).',
    labelNames: ['limit'],
    registers,
  });
  const closed = new Counter({
    name: 'deedwire_http_closed_idle_connections_total',
    help: 'Idle connections that were closed because a new one exceeded a limit: total (all connections), client (those of one client).',
    labelNames: ['limit'],
    registers,
  });
  const lines = new Counter({
    name: 'deedwire_log_lines_dropped_total',
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
  // Otherwise the first refusal would be no increase.
  for (const limit of ['total', 'address', 'client']) connections.inc({ limit }, 0);
  for (const limit of ['total', 'client']) closed.inc({ limit }, 0);
  return {
    onDatabaseRisk: (subject: string) => risks.set({ setting: subject }, 1),
    onRefused: (code: RefusalCode) => refused.inc({ code }),
    onConnectionLimit: (limit: ConnectionLimit) => connections.inc({ limit }),
    onIdleConnectionClosed: (limit: ConnectionLimit) => closed.inc({ limit }),
  };
}
