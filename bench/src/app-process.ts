import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessUsage } from './rounds.ts';
import type { Defer } from './with-cleanup.ts';

export interface AppProcessOptions {
  app: 'lender-api' | 'partner-api' | 'webhook-worker';
  /** Run the output of `pnpm build` instead of the sources. */
  built: boolean;
  /** Added to the environment of this process. */
  env: Readonly<Record<string, string>>;
  /** The folder of the checkout whose app runs, with a slash at its end. */
  checkout?: URL | undefined;
}

export type ProcessMemory = Awaited<ReturnType<typeof readMemory>>;

/** An app in its own process. */
export type AppProcess = Awaited<ReturnType<typeof startAppProcess>>;

const thisCheckout = new URL('../../', import.meta.url);
// Makes an app stop when the process that started it ends.
const endWithParent = new URL('tools/dev-environment/src/end-with-parent.js', thisCheckout);
// Guards against hanging only.
const startTimeoutMs = 300_000;
const stopTimeoutMs = 60_000;

/** The flags of Node with which the app's `start` script runs. */
async function shippedFlags(folder: URL): Promise<string[]> {
  const manifest: { scripts: { start: string } } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8'));
  return manifest.scripts.start.split(' ').filter((part) => part.startsWith('--'));
}

/** Starts an app as shipped, its log going to a file. Resolves when it is ready. */
export async function startAppProcess(defer: Defer, options: AppProcessOptions) {
  const { app, built, env, checkout = thisCheckout } = options;
  const folder = new URL(`apps/${app}/`, checkout);
  const logFolder = await mkdtemp(join(tmpdir(), 'deedwire-bench-log-'));
  const logFile = join(logFolder, 'app.log');
  const log = await open(logFile, 'w');
  const flags = [...(await shippedFlags(folder)), '--import', endWithParent.href];
  const main = built ? ['dist/main.js'] : ['--conditions=deedwire-source', 'src/main.ts'];
  const child = spawn(process.execPath, [...flags, ...main], {
    cwd: folder,
    env: { ...process.env, ADMIN_PORT: '0', ...env },
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  const exited = once(child, 'exit');
  await log.close();
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    const deadline = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(deadline);
    await rm(logFolder, { recursive: true, force: true });
  };
  defer(stop);
  const { url, adminUrl } = await readyAddresses(app, logFile, () => child.exitCode !== null);
  /** A suspended process does not respond. */
  let suspendedUsage: ProcessUsage | undefined;
  return {
    /** For example `http://127.0.0.1:4001`. Null for the worker, which serves no clients. */
    url,
    usage: async () => suspendedUsage ?? readUsage(adminUrl),
    /** Linux only. */
    memory: () => readMemory(adminUrl, child.pid),
    /** Suspends the process. What it has leased stays leased until the lease ends. */
    async suspend(): Promise<void> {
      suspendedUsage = await readUsage(adminUrl);
      child.kill('SIGSTOP');
    },
    resume(): void {
      suspendedUsage = undefined;
      child.kill('SIGCONT');
    },
    stop,
    /** Ends the process at once. */
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function readyAddresses(app: string, logFile: string, hasEnded: () => boolean) {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline && !hasEnded()) {
    const log = await readFile(logFile, 'utf8');
    const [, adminUrl] = /"adminUrl":"([^"]+)"/.exec(log) ?? [];
    const [, url = null] = /"url":"([^"]+)"/.exec(log) ?? [];
    if (adminUrl !== undefined && (await fetch(`${adminUrl}/ready`)).ok) return { url, adminUrl };
    await sleep(25);
  }
  throw new Error(`${app} did not start. Its log:\n${(await readFile(logFile, 'utf8')).slice(-4000)}`);
}

async function readUsage(adminUrl: string): Promise<ProcessUsage> {
  const metrics = await readMetrics(adminUrl);
  return {
    cpuMs: metric(metrics, 'process_cpu_seconds_total') * 1000,
    residentBytes: metric(metrics, 'process_resident_memory_bytes'),
  };
}

/** What a process holds, in bytes. */
async function readMemory(adminUrl: string, pid: number | undefined) {
  // First, because it creates garbage in the app.
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const metrics = await readMetrics(adminUrl);
  const spaces = metrics.matchAll(/^nodejs_heap_space_size_total_bytes\{space="(\w+)".*\} (\S+)$/gm);
  return {
    resident: statusBytes(status, 'VmRSS'),
    /** The most that was ever resident. */
    residentPeak: statusBytes(status, 'VmHWM'),
    /** Outside the heap: buffers, for the most part. */
    external: metric(metrics, 'nodejs_external_memory_bytes'),
    /** What the heap has reserved, by its spaces. */
    heap: Object.fromEntries(Array.from(spaces, ([, space = '', bytes]) => [space, Number(bytes)])),
  };
}

async function readMetrics(adminUrl: string): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text();
}

function metric(metrics: string, name: string): number {
  const [, value] = new RegExp(String.raw`^${name}(?:\{.*\})? (\S+)$`, 'm').exec(metrics) ?? [];
  if (value === undefined) throw new Error(`The app has no metric ${name}.`);
  return Number(value);
}

function statusBytes(status: string, name: string): number {
  const [, kilobytes] = new RegExp(String.raw`^${name}:\s+(\d+) kB$`, 'm').exec(status) ?? [];
  if (kilobytes === undefined) throw new Error(`The status of the process has no ${name}.`);
  return Number(kilobytes) * 1024;
}
