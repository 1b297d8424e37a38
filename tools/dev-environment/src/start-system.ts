import { setTimeout as sleep } from 'node:timers/promises';
import { appOf, interfaceOf, type Service } from '@deedwire/core';
import { generateSecretKeys } from '@deedwire/development';
import { createLogin, findFreePort } from '@deedwire/embedded-postgres';
import { createStore, selectRolePrefix } from '@deedwire/store';
import { appsOf, perAppOf, type RunningApp, startApp } from './app-process.ts';
import type { Application, AppOf, NameOf } from './application.ts';
import { documentationFiles } from './documentation.ts';
import { workspaceRoot } from './workspace.ts';

/** A PostgreSQL URL for each app. The logins may be the same or differ. The database must be migrated. */
export type AppDatabaseUrls<App extends string> = Readonly<Record<App, string>>;

export interface SystemOptions<App extends string> {
  /** The apps to start. Defaults to all. The others are missing in the `apps` of the system. */
  apps?: readonly App[];
  databaseUrls: AppDatabaseUrls<App>;
  /** `PORT` of the interfaces. Each defaults to 0, a free port. */
  ports?: Partial<Record<Exclude<App, 'webhook-worker'>, number>>;
  /** `ADMIN_PORT`. Each defaults to 0, a free port. */
  adminPorts?: Partial<Record<App, number>>;
  /** `WEBHOOK_SECRET_KEYS`. Defaults to a new random key. */
  webhookSecretKeys?: string;
  /** Whether the interfaces serve the portal, if it is built. Without their `ports`, it selects free ones. */
  portal?: boolean;
  /** Further environment variables of all apps. */
  env?: Readonly<Record<string, string>>;
  /** Further environment variables of one app. They override `env`. */
  appEnv?: Partial<Record<App, Readonly<Record<string, string>>>>;
  /** See `AppOptions`. */
  built?: boolean;
  /** See `AppOptions`. */
  workspace?: string;
  onLine?: (app: App, line: string) => void;
}

export type SystemOf<Served extends Service> = Awaited<ReturnType<typeof startSystemOf<Served>>>;

/** Starts the apps as processes and waits until they are ready. They end when this process ends. */
export async function startSystemOf<Served extends Service>(
  application: Application<Served>,
  options: SystemOptions<AppOf<Served>>,
) {
  type App = AppOf<Served>;
  const {
    apps: names = appsOf(application),
    databaseUrls,
    ports = {},
    adminPorts = {},
    webhookSecretKeys = generateSecretKeys(),
    portal = false,
    env = {},
    appEnv = {},
    built = false,
    workspace = workspaceRoot,
    onLine,
  } = options;

  const knownPorts: Readonly<Partial<Record<string, number>>> = ports;
  const knownAdminPorts: Readonly<Partial<Record<string, number>>> = adminPorts;
  const envOfApps: Readonly<Partial<Record<string, Readonly<Record<string, string>>>>> = appEnv;

  function start(
    name: App,
    port = 0,
    adminPort = 0,
    furtherEnv: Readonly<Record<string, string>> = {},
    from = workspace,
    isBuilt = built,
  ): Promise<RunningApp> {
    return startApp({
      name,
      ...(application.folder !== undefined && { folder: application.folder }),
      built: isBuilt,
      workspace: from,
      onLine: (line) => onLine?.(name, line),
      env: {
        HOST: '127.0.0.1',
        ADMIN_HOST: '127.0.0.1',
        // An empty value counts as not set. An inherited value would point to another database.
        DATABASE_DIRECT_URL: '',
        DATABASE_DIRECT_URL_FILE: '',
        DATABASE_SCHEMA: '',
        DATABASE_URL_FILE: '',
        WEBHOOK_SECRET_KEYS_FILE: '',
        NODE_ENV: 'development',
        SHUTDOWN_DELAY_MS: '0',
        WEBHOOK_CALLBACK_POLICY: 'development',
        DOCUMENTATION_URL: documentationFiles,
        ...(portal && port > 0 && { PORTAL_ORIGIN: `http://127.0.0.1:${port}` }),
        ...env,
        ...envOfApps[name],
        DATABASE_URL: databaseUrls[name],
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        WEBHOOK_SECRET_KEYS: webhookSecretKeys,
        ...furtherEnv,
      },
    });
  }

  const portOf = async (name: App): Promise<number> =>
    name === 'webhook-worker' ? 0 : (knownPorts[name] ?? 0) || (portal ? await findFreePort() : 0);
  const appPorts = await perAppOf(application, portOf);
  const starting = names.map((name) => start(name, appPorts[name], knownAdminPorts[name]));
  const running = await Promise.all(starting).catch(async (error: unknown) => {
    await Promise.all(starting.map((app) => app.then((started) => started.stop()).catch(() => {})));
    throw error;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each app that the caller wants
  const apps = Object.fromEntries(running.map((app) => [app.name, app])) as Record<App, RunningApp>;
  const added: RunningApp[] = [];
  return {
    /** The latest process of each app. */
    apps,
    /** Starts an app that has ended again, on the same ports. */
    async restart(name: App): Promise<RunningApp> {
      const { url, adminUrl } = apps[name];
      apps[name] = await start(name, portIn(url), portIn(adminUrl));
      return apps[name];
    },
    /**
     * Starts another process of an app, on free ports. `stop` stops it too.
     *
     * @param furtherEnv overrides everything else
     * @param from the workspace folder that contains the app, if it is another one than that of the other apps
     * @param isBuilt as `built`, if it differs from that of the other apps
     */
    async add(
      name: App,
      furtherEnv?: Readonly<Record<string, string>>,
      from?: string,
      isBuilt?: boolean,
    ): Promise<RunningApp> {
      const app = await start(name, 0, 0, furtherEnv, from, isBuilt);
      added.push(app);
      return app;
    },
    /** Stops all apps at the same time. */
    async stop(): Promise<void> {
      await Promise.all([...Object.values<RunningApp>(apps), ...added].map((app) => app.stop()));
    },
  };
}

/** The URL of each interface, including its path. That of an app that was not started leads nowhere. */
export function interfaceUrlsOf<Served extends Service>(
  { service, interfaceNames }: Application<Served>,
  { apps }: { apps: Readonly<Partial<Record<AppOf<Served>, RunningApp>>> },
): Record<NameOf<Served>, string> {
  const urls = interfaceNames.map((name) => [
    name,
    `${apps[appOf(name)]?.url}${interfaceOf(service, name).path}/graphql`,
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
  return Object.fromEntries(urls) as Record<NameOf<Served>, string>;
}

function portIn(url: string | null): number {
  return url === null ? 0 : Number(new URL(url).port);
}

/** The group role of an app. */
export function groupRole(app: string): string {
  return app.replaceAll('-', '_');
}

/** Creates a login for each app in the app's group role, so that each app has only the rights it needs. */
export async function createAppLoginsOf<Served extends Service>(
  application: Application<Served>,
  databaseUrl: string,
): Promise<AppDatabaseUrls<AppOf<Served>>> {
  // Logins belong to the server, not to a database: the name of the database keeps them apart.
  const database = new URL(databaseUrl).pathname.slice(1);
  const store = createStore({ databaseUrl, applicationName: 'deedwire-dev' });
  let prefix: string;
  try {
    prefix = await selectRolePrefix(store);
  } finally {
    await store.close();
  }
  return perAppOf(application, (name) =>
    createLogin(databaseUrl, `${database}_${groupRole(name)}`, prefix + groupRole(name)),
  );
}

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** Restarts an app whenever it ends, as a process manager does in production. Stops when `signal` aborts. */
export async function keepRunning<App extends string>(
  system: { apps: Readonly<Record<App, RunningApp>>; restart(name: App): Promise<RunningApp> },
  name: App,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  for (let pauseMs = firstPauseMs; ;) {
    const { exitCode, signal: endSignal } = await system.apps[name].ended;
    if (signal.aborted) return;
    say(`${name} ended (${endSignal ?? exitCode}); restarting it`);
    await sleep(pauseMs);
    if (signal.aborted) return;
    try {
      await system.restart(name);
      pauseMs = firstPauseMs;
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }
}
