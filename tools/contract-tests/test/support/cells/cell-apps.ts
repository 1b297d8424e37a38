import { type AppDatabaseUrls, type AppName, keepRunning, startSystem, type System } from '@deedwire/dev-environment';
import type { CellPorts } from './cell-proxy.ts';

/** The processes of a cell, which are restarted when they end. */
export interface CellApps {
  addWorker(): Promise<void>;
  /** Sends a signal to the latest process of an app, of the second worker with 1. */
  signal(name: AppName, signal: NodeJS.Signals, place?: number): void;
  stop(): Promise<void>;
}

export interface CellAppsOptions {
  databaseUrls: AppDatabaseUrls;
  ports: CellPorts;
  webhookSecretKeys: string;
  env: Readonly<Record<string, string>>;
}

/** Starts one process of each app. */
export async function startCellApps({ ports, ...options }: CellAppsOptions): Promise<CellApps> {
  const { lender, partner } = ports;
  const stopping = new AbortController();
  const systems: System[] = [];
  const kept: Promise<void>[] = [];
  const keep = (system: System, names: readonly AppName[]): void => {
    systems.push(system);
    kept.push(...names.map((name) => keepRunning(system, name, stopping.signal, () => {})));
  };
  const all = ['lender-api', 'partner-api', 'webhook-worker'] as const;
  keep(
    await startSystem({
      ...options,
      apps: all,
      ports: { 'lender-api': lender.port, 'partner-api': partner.port },
      adminPorts: { 'lender-api': lender.adminPort, 'partner-api': partner.adminPort },
    }),
    all,
  );
  return {
    async addWorker() {
      keep(await startSystem({ ...options, apps: ['webhook-worker'] }), ['webhook-worker']);
    },
    signal: (name, signal, place = 0) => void systems[place % systems.length]?.apps[name].kill(signal),
    async stop() {
      stopping.abort();
      await Promise.all(systems.map((system) => system.stop()));
      // One of them may have been about to be restarted.
      await Promise.all(kept);
      await Promise.all(systems.map((system) => system.stop()));
    },
  };
}
