import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { appOf, type InterfaceApp } from '@deedwire/core';
import { createLogin, findFreePort } from '@deedwire/embedded-postgres';
import { type InterfaceName, firm, perInterface } from '@deedwire/firm';
import { type AppName, appNames, perApp, type RunningApp, startApp } from './app-process.ts';
import { documentationFiles } from './documentation.ts';
import { workspaceRoot } from './workspace.ts';

/** A PostgreSQL URL for each app. The logins may be the same or differ. The database must be migrated. */
export type AppDatabaseUrls = Readonly<Record<AppName, string>>;

export interface SystemOptions {
  /** The apps to start. Defaults to all. The others are missing in the `apps` of the system. */
  apps?: readonly AppName[];
  databaseUrls: AppDatabaseUrls;
  /** `PORT` of the interfaces. Each defaults to 0, a free port. */
  ports?: Partial<Record<InterfaceApp<InterfaceName>, number>>;
  /** `ADMIN_PORT`. Each defaults to 0, a free port. */
  adminPorts?: Partial<Record<AppName, number>>;
  /** `WEBHOOK_SECRET_KEYS`. Defaults to a new random key. */
  webhookSecretKeys?: string;
  /** Whether the interfaces serve the portal, if it is built. Without their `ports`, it selects free ones. */
  portal?: boolean;
  /** Further environment variables of all apps. */
  env?: Readonly<Record<string, string>>;
  /** Further environment variables of one app. They override `env`. */
  appEnv?: Partial<Record<AppName, Readonly<Record<string, string>>>>;
  /** See `AppOptions`. */
  built?: boolean;
  /** See `AppOptions`. */
  workspace?: string;
  onLine?: (app: AppName, line: string) => void;
}

export type System = Awaited<ReturnType<typeof startSystem>>;

/** A value of `WEBHOOK_SECRET_KEYS` with one random key. */
export function generateSecretKeys(): string {
  return `dev:${randomBytes(32).toString('base64')}`;
}

/** Starts the apps as processes and waits until they are ready. They end when this process ends. */
export async function startSystem(options: SystemOptions) {
  const {
    apps: names = appNames,
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

  function start(
    name: AppName,
    port = 0,
    adminPort = 0,
    furtherEnv: Readonly<Record<string, string>> = {},
    from = workspace,
    isBuilt = built,
  ): Promise<RunningApp> {
    return startApp({
      name,
      built: isBuilt,
      workspace: from,
      onLine: (line) => onLine?.(name, line),
      env: {
        HOST: '127.0.0.1',
        ADMIN_HOST: '127.0.0.1',
        // An empty value counts as not set. An inherited value would point to another database.
        DATABASE_DIRECT_URL: '',
        DATABASE_DIRECT_URL_FILE: '',
        DATABASE_URL_FILE: '',
        WEBHOOK_SECRET_KEYS_FILE: '',
        NODE_ENV: 'development',
        SHUTDOWN_DELAY_MS: '0',
        WEBHOOK_CALLBACK_POLICY: 'development',
        DOCUMENTATION_URL: documentationFiles,
        ...(portal && port > 0 && { PORTAL_ORIGIN: `http://127.0.0.1:${port}` }),
        ...env,
        ...appEnv[name],
        DATABASE_URL: databaseUrls[name],
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        WEBHOOK_SECRET_KEYS: webhookSecretKeys,
        ...furtherEnv,
      },
    });
  }

  const portOf = async (name: AppName): Promise<number> =>
    name === 'webhook-worker' ? 0 : ports[name] || (portal ? await findFreePort() : 0);
  const appPorts = await perApp(portOf);
  const starting = names.map((name) => start(name, appPorts[name], adminPorts[name]));
  const running = await Promise.all(starting).catch(async (error: unknown) => {
    await Promise.all(starting.map((app) => app.then((started) => started.stop()).catch(() => {})));
    throw error;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each app that the caller wants
  const apps = Object.fromEntries(running.map((app) => [app.name, app])) as Record<AppName, RunningApp>;
  const added: RunningApp[] = [];
  return {
    /** The latest process of each app. */
    apps,
    /** Starts an app that has ended again, on the same ports. */
    async restart(name: AppName): Promise<RunningApp> {
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
      name: AppName,
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
      await Promise.all([...Object.values(apps), ...added].map((app) => app.stop()));
    },
  };
}

/** The URL of each interface, including its path. That of an app that was not started leads nowhere. */
export function interfaceUrls({ apps }: { apps: Partial<System['apps']> }): Record<InterfaceName, string> {
  return perInterface((name) => `${apps[appOf(name)]?.url}${firm.interfaces[name].path}/graphql`);
}

function portIn(url: string | null): number {
  return url === null ? 0 : Number(new URL(url).port);
}

/** The group role of an app. */
export function groupRole(app: AppName): string {
  return app.replaceAll('-', '_');
}

/** Creates a login for each app in the app's group role, so that each app has only the rights it needs. */
export async function createAppLogins(databaseUrl: string): Promise<AppDatabaseUrls> {
  // Logins belong to the server, not to a database: the name of the database keeps them apart.
  const database = new URL(databaseUrl).pathname.slice(1);
  return perApp((name) => createLogin(databaseUrl, `${database}_${groupRole(name)}`, groupRole(name)));
}

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** Restarts an app whenever it ends, as a process manager does in production. Stops when `signal` aborts. */
export async function keepRunning(
  system: System,
  name: AppName,
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
