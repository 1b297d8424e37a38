import { type AppProcess, startAppProcess } from '../../app-process.ts';

/** `apps/webhook-worker` in its own process, its log going to a file. */
export type WorkerApp = Pick<AppProcess, 'usage' | 'memory' | 'stop'>;

export interface WorkerAppOptions {
  /** With the rights of the worker. */
  databaseUrl: string;
  /** As in WEBHOOK_SECRET_KEYS. */
  secretKeys: string;
  /** Run the output of `pnpm build` instead of the sources. */
  built: boolean;
  /** Variables that differ from the defaults. */
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** See `startAppProcess`. */
  checkout?: URL | undefined;
}

/** Resolves when the worker is ready. */
export function startWorkerApp(options: WorkerAppOptions): Promise<WorkerApp> {
  const { databaseUrl, secretKeys, built, env, logFile, checkout } = options;
  return startAppProcess({
    app: 'webhook-worker',
    built,
    env: {
      DATABASE_URL: databaseUrl,
      WEBHOOK_SECRET_KEYS: secretKeys,
      // The receivers listen on 127.0.0.1, which production refuses.
      NODE_ENV: 'test',
      WEBHOOK_CALLBACK_POLICY: 'development',
      ...env,
    },
    logFile,
    checkout,
  });
}
