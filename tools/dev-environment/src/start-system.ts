import { randomBytes } from 'node:crypto';
import { startApp, type AppName, type RunningApp } from './app-process.ts';

/** A PostgreSQL URL for each app, a login of its own or one for all. The database is migrated. */
export type AppDatabaseUrls = Readonly<Record<AppName, string>>;

export interface SystemOptions {
  databaseUrls: AppDatabaseUrls;
  /** 0 or missing: a free one. */
  ports?: Partial<Record<AppName, number>>;
  /** `WEBHOOK_SECRET_KEYS`. Missing: a key of this system's own. */
  webhookSecretKeys?: string;
  /** Further variables, for all apps and for one. */
  env?: Readonly<Record<string, string>>;
  appEnv?: Partial<Record<AppName, Readonly<Record<string, string>>>>;
  /** As for an app. */
  built?: boolean;
  workspace?: string;
  onLine?: (app: AppName, line: string) => void;
}

export interface System {
  /** The processes as last started. */
  apps: Record<AppName, RunningApp>;
  /** Starts one again on its port, after it has ended. */
  restart(name: AppName): Promise<RunningApp>;
  /** Starts one more process of an app, on a free port and with further variables. It stops with the others. */
  add(name: AppName, furtherEnv?: Readonly<Record<string, string>>): Promise<RunningApp>;
  /** Stops all apps at the same time. */
  stop(): Promise<void>;
}

/** A `WEBHOOK_SECRET_KEYS` of one random key. */
export function generateSecretKeys(): string {
  return `dev:${randomBytes(32).toString('base64')}`;
}

/** Starts the three apps as processes and waits until they are ready. They end with this process. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const {
    databaseUrls,
    ports = {},
    webhookSecretKeys = generateSecretKeys(),
    env = {},
    appEnv = {},
    built = false,
    workspace,
    onLine,
  } = options;

  function start(name: AppName, port: number, furtherEnv: Readonly<Record<string, string>> = {}): Promise<RunningApp> {
    return startApp({
      name,
      built,
      ...(workspace !== undefined && { workspace }),
      onLine: (line) => onLine?.(name, line),
      env: {
        HOST: '127.0.0.1',
        // Set to nothing counts as not set: the caller's own is for another database.
        DATABASE_DIRECT_URL: '',
        NODE_ENV: 'development',
        SHUTDOWN_DELAY_MS: '0',
        WEBHOOK_CALLBACK_POLICY: 'development',
        ...env,
        ...appEnv[name],
        ...furtherEnv,
        DATABASE_URL: databaseUrls[name],
        PORT: String(port),
        WEBHOOK_SECRET_KEYS: webhookSecretKeys,
      },
    });
  }

  const starting = [
    start('lender-api', ports['lender-api'] ?? 0),
    start('partner-api', ports['partner-api'] ?? 0),
    start('webhook-worker', ports['webhook-worker'] ?? 0),
  ] as const;
  const [lenderApi, partnerApi, webhookWorker] = await Promise.all(starting).catch(async (error: unknown) => {
    await Promise.all(starting.map((app) => app.then((running) => running.stop()).catch(() => {})));
    throw error;
  });
  const apps = { 'lender-api': lenderApi, 'partner-api': partnerApi, 'webhook-worker': webhookWorker };
  const added: RunningApp[] = [];
  return {
    apps,
    async restart(name) {
      apps[name] = await start(name, Number(new URL(apps[name].url).port));
      return apps[name];
    },
    async add(name, furtherEnv) {
      const app = await start(name, 0, furtherEnv);
      added.push(app);
      return app;
    },
    async stop() {
      await Promise.all([...Object.values(apps), ...added].map((app) => app.stop()));
    },
  };
}
