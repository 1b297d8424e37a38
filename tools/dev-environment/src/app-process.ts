import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { appOf, type Service } from '@deedwire/core';
import type { Application, AppOf } from './application.ts';
import { workspaceRoot } from './workspace.ts';

export function appsOf<Served extends Service>({ interfaceNames }: Application<Served>): readonly AppOf<Served>[] {
  return [...interfaceNames.map(appOf), 'webhook-worker'];
}

/** A value for each app. */
export async function perAppOf<Served extends Service, Value>(
  application: Application<Served>,
  valueOf: (name: AppOf<Served>) => Value | Promise<Value>,
): Promise<Record<AppOf<Served>, Value>> {
  const entries: [AppOf<Served>, Value][] = [];
  for (const name of appsOf(application)) entries.push([name, await valueOf(name)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each app
  return Object.fromEntries(entries) as Record<AppOf<Served>, Value>;
}

export interface AppOptions {
  name: string;
  /** The folder with its service, absolute or in that of the workspace. By default, the app is in `apps/<name>`. */
  folder?: string;
  /** Added to the environment of this process. */
  env: Readonly<Record<string, string>>;
  /** Called with each line that the app writes. */
  onLine?: (line: string) => void;
  /** `listening` returns before the app is ready. Defaults to `ready`. */
  waitFor?: 'ready' | 'listening';
  /** Run the output of `pnpm build`, as in production, instead of the sources. */
  built?: boolean;
  /** The workspace folder that contains the app. Defaults to this workspace. */
  workspace?: string;
}

export type RunningApp = Awaited<ReturnType<typeof startApp>>;

export interface AppEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

// Guards against hanging only. A busy machine can need many times the usual second.
const startTimeoutMs = 240_000;
// The worker waits for the attempts in flight, each of which takes at most 15 s.
const stopTimeoutMs = 17_000;
const keptLines = 40;

/**
 * Starts an app as a separate process.
 *
 * @throws {Error} if the app does not start within 240 s, or as soon as a setting of the database keeps it from that; the message contains its last lines of output
 */
export async function startApp(options: AppOptions) {
  const { name, env, onLine, waitFor = 'ready' } = options;
  const level = env['LOG_LEVEL'] ?? process.env['LOG_LEVEL'] ?? 'info';
  const lastLines: string[] = [];
  // With fewer lines, none would say where the app listens.
  const child = spawnApp({ ...options, env: { ...env, LOG_LEVEL: isAbove(level, 'info') ? 'info' : level } });
  const ended = once(child, 'exit').then((): AppEnd => ({ exitCode: child.exitCode, signal: child.signalCode }));
  const listening = Promise.withResolvers<Addresses>();
  for (const input of [child.stdout, child.stderr].filter((stream) => stream !== null))
    createInterface({ input }).on('line', (line) => {
      if (isOfLevel(line, level)) onLine?.(line);
      lastLines.push(line);
      if (lastLines.length > keptLines) lastLines.shift();
      const addresses = listeningAddresses(line);
      if (addresses !== null) listening.resolve(addresses);
    });
  const tooLate = AbortSignal.timeout(startTimeoutMs);
  try {
    const gone = ended.then(({ exitCode, signal }) =>
      Promise.reject(new Error(`the process ended (${exitCode ?? signal})`)),
    );
    const up = async (): Promise<Addresses> => {
      const addresses = await listening.promise;
      if (waitFor === 'ready') await untilReady(addresses.adminUrl, tooLate);
      return addresses;
    };
    const addresses = await Promise.race([
      up(),
      gone,
      once(tooLate, 'abort').then(() => Promise.reject(tooLate.reason)),
    ]);
    return {
      name,
      ...addresses,
      pid: child.pid ?? 0,
      /** Resolves when the process has ended, for any reason. */
      ended,
      kill: (signal: NodeJS.Signals) => child.kill(signal),
      /** Sends SIGTERM, then SIGKILL if the app does not end within 17 s. */
      stop: () => stop(child, ended),
    };
  } catch (cause) {
    child.kill('SIGKILL');
    await ended;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${name} did not start: ${reason}. Last lines of its output:\n${lastLines.join('\n')}`, { cause });
  }
}

function spawnApp({ name, env, built = false, workspace = workspaceRoot, ...options }: AppOptions): ChildProcess {
  const { folder } = options;
  const entry =
    folder === undefined
      ? [join(workspace, `apps/${name}/${built ? 'dist/main.js' : 'src/main.ts'}`)]
      : [join(workspace, 'tools/dev-environment/src/start.ts'), name, '--service', resolve(workspace, folder)];
  const main = [
    // As in `deploy`, and a young generation that starts at its full size: starting an app takes a tenth less CPU time.
    '--min-semi-space-size=16',
    '--max-semi-space-size=16',
    '--no-parallel-scavenge',
    '--import',
    new URL('end-with-parent.js', import.meta.url).href,
    ...(built ? [] : ['--conditions=deedwire-source']),
    ...entry,
  ];
  return spawn(process.execPath, main, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

/** From the most lines to the fewest. */
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

function isAbove(level: string, than: string): boolean {
  return levels.indexOf(level) > levels.indexOf(than);
}

/** Also a line that is no log line of an app. */
function isOfLevel(line: string, level: string): boolean {
  const [, own = level] = /^\{"level":"(\w+)"/.exec(line) ?? [];
  return !isAbove(level, own);
}

interface Addresses {
  /** For example `http://127.0.0.1:4001`. Null for the worker, which serves no clients. */
  url: string | null;
  /** Of `/health`, `/ready` and `/metrics`. */
  adminUrl: string;
}

/** The URLs in the log line `listening`. Null for every other line. */
function listeningAddresses(line: string): Addresses | null {
  if (!line.includes('"listening"')) return null;
  const record: { msg?: unknown; url?: unknown; adminUrl?: unknown } = JSON.parse(line);
  if (record.msg !== 'listening' || typeof record.adminUrl !== 'string') return null;
  return { url: typeof record.url === 'string' ? record.url : null, adminUrl: record.adminUrl };
}

async function untilReady(adminUrl: string, tooLate: AbortSignal): Promise<void> {
  while (!tooLate.aborted) {
    const response = await fetch(`${adminUrl}/ready`).catch(() => null);
    if (response?.ok) return;
    const { problems = [] }: { problems?: string[] } = (await response?.json()) ?? {};
    // Waiting does not change it.
    const ofSetting = problems.find((problem) => problem.startsWith('the setting '));
    if (ofSetting !== undefined) throw new Error(ofSetting);
    await sleep(25);
  }
}

async function stop(child: ChildProcess, ended: Promise<AppEnd>): Promise<AppEnd> {
  child.kill('SIGTERM');
  const deadline = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  const end = await ended;
  clearTimeout(deadline);
  return end;
}
