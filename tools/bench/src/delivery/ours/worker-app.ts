import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** `apps/webhook-worker` in its own process, its log going to a file. */
export interface WorkerApp {
  /** User and system time so far. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

export interface WorkerAppOptions {
  /** With the rights of the worker. */
  databaseUrl: string;
  /** As in WEBHOOK_SECRET_KEYS. */
  secretKeys: string;
  logFile: string;
}

const app = new URL('../../../../../apps/webhook-worker/', import.meta.url);
const main = new URL('src/main.ts', app);
// Makes an app stop when the process that started it ends.
const endWithParent = new URL('../../../../dev-environment/src/end-with-parent.ts', import.meta.url);
const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

/** The flags of Node with which the app's `start` script runs. */
async function shippedFlags(): Promise<string[]> {
  const manifest: { scripts: { start: string } } = JSON.parse(await readFile(new URL('package.json', app), 'utf8'));
  return manifest.scripts.start.split(' ').filter((part) => part.startsWith('--'));
}

/** Resolves when the worker is ready. */
export async function startWorkerApp({ databaseUrl, secretKeys, logFile }: WorkerAppOptions): Promise<WorkerApp> {
  const log = await open(logFile, 'w');
  const flags = [
    ...(await shippedFlags()),
    '--conditions=deedwire-source',
    '--import',
    endWithParent.href,
    main.pathname,
  ];
  const child = spawn(process.execPath, flags, {
    env: {
      // oxlint-disable-next-line node/no-process-env -- the app inherits it
      ...process.env,
      DATABASE_URL: databaseUrl,
      WEBHOOK_SECRET_KEYS: secretKeys,
      // The receivers listen on 127.0.0.1, which production refuses.
      NODE_ENV: 'test',
      WEBHOOK_CALLBACK_POLICY: 'development',
      ADMIN_PORT: '0',
    },
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  const exited = once(child, 'exit');
  await log.close();
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const deadline = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(deadline);
  };
  try {
    const url = await readyUrl(logFile, () => child.exitCode !== null);
    return { cpuMs: () => processCpuMs(url), stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

async function readyUrl(logFile: string, hasEnded: () => boolean): Promise<string> {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline && !hasEnded()) {
    // oxlint-disable-next-line no-await-in-loop -- until the worker is ready
    const [, url] = /"adminUrl":"([^"]+)"/.exec(await readFile(logFile, 'utf8')) ?? [];
    // oxlint-disable-next-line no-await-in-loop
    if (url !== undefined && (await fetch(`${url}/ready`)).ok) return url;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(25);
  }
  throw new Error(`The worker did not start. Its log:\n${(await readFile(logFile, 'utf8')).slice(-4000)}`);
}

async function processCpuMs(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const [, seconds] = /^process_cpu_seconds_total (\S+)$/m.exec(metrics) ?? [];
  if (seconds === undefined) throw new Error('The worker has no metric process_cpu_seconds_total.');
  return Number(seconds) * 1000;
}
