import { keepRunning } from '@deedwire/dev-environment';
import { type AppName, startSystem, type urlsOfApps } from '@deedwire/dev-environment/harness';

/** Where the interfaces of a cell listen. */
export type InterfacePorts = Record<'customer' | 'supplier', { port: number; adminPort: number }>;

/** The processes of a cell, which are restarted when they end. */
export interface CellApps {
  addWorker(): Promise<void>;
  /** Sends a signal to the latest process of an app, of the second worker with 1. */
  signal(name: AppName, signal: NodeJS.Signals, place?: number): void;
  stop(): Promise<void>;
}

export interface CellAppsOptions {
  databaseUrls: Awaited<ReturnType<typeof urlsOfApps>>;
  ports: InterfacePorts;
  webhookSecretKeys: string;
  env: Readonly<Record<string, string>>;
}

type System = Awaited<ReturnType<typeof startSystem>>;

/** Starts one process of each app. */
export async function startCellApps({ ports, ...options }: CellAppsOptions): Promise<CellApps> {
  const { supplier, customer } = ports;
  const stopping = new AbortController();
  const systems: System[] = [];
  const kept: Promise<void>[] = [];
  const keep = (system: System, names: readonly AppName[]): void => {
    systems.push(system);
    kept.push(...names.map((name) => keepRunning(system, name, stopping.signal, () => {})));
  };
  const all = ['supplier-api', 'customer-api', 'webhook-worker'] as const;
  keep(
    await startSystem({
      ...options,
      apps: all,
      ports: { 'supplier-api': supplier.port, 'customer-api': customer.port },
      adminPorts: { 'supplier-api': supplier.adminPort, 'customer-api': customer.adminPort },
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
