import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { DevFile } from '../src/dev-file.ts';

export interface DevProcess {
  child: ChildProcess;
  /** Everything that it has printed. */
  output: () => string;
  /** Resolves with the exit code, null when a signal ended it. */
  ended: Promise<number | null>;
  /** Signals its process group, which it leads. */
  signalGroup: (signal: NodeJS.Signals) => void;
}

export interface DevHome {
  path: string;
  /** Starts `pnpm dev`'s process on this home, optionally through another command. */
  start(env?: Record<string, string>, launcher?: readonly string[]): DevProcess;
  /** What `dev.json` says once everything is ready. Rejects, with what was printed, when it is not written. */
  whenReady(dev: DevProcess): Promise<DevFile>;
  /** The processes that belong to it, by what they inherited: the apps, the guard, all of PostgreSQL. */
  processes(): string[];
}

const devMain = join(import.meta.dirname, '../src/dev.ts');
const freePorts = { LENDER_API_PORT: '0', PARTNER_API_PORT: '0', WEBHOOK_WORKER_PORT: '0' };

/** A home that ends with the test, and every process on it. */
export async function newDevHome(): Promise<DevHome> {
  const path = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
  const started: DevProcess[] = [];
  onTestFinished(async () => {
    for (const { child, signalGroup, ended } of started) {
      if (child.exitCode === null && child.signalCode === null) signalGroup('SIGKILL');
      await ended;
    }
    await vi.waitUntil(() => processesOf(path).length === 0, { timeout: 12_000, interval: 100 });
    await rm(path, { recursive: true, force: true });
  });
  return {
    path,
    start(env = {}, launcher = []) {
      const dev = startDev({ ...freePorts, ...env, DEEDWIRE_HOME: path }, launcher);
      started.push(dev);
      return dev;
    },
    whenReady(dev) {
      const written = vi.waitFor(() => readDevFile(path), { timeout: 25_000, interval: 50 });
      const gone = dev.ended.then(() => Promise.reject(new Error(`It ended:\n${dev.output()}`)));
      return Promise.race([written, gone]);
    },
    processes: () => processesOf(path),
  };
}

async function readDevFile(home: string): Promise<DevFile> {
  return JSON.parse(await readFile(join(home, 'dev.json'), 'utf8'));
}

function startDev(env: Record<string, string>, launcher: readonly string[]): DevProcess {
  const [program, ...programArguments] = [...launcher, process.execPath, '--conditions=deedwire-source', devMain];
  const child = spawn(program, programArguments, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // oxlint-disable-next-line node/no-process-env -- PATH and the like
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'exit').then(() => child.exitCode);
  return { child, output: () => output, ended, signalGroup: (signal) => process.kill(-(child.pid ?? 0), signal) };
}

/** Only Linux tells what a process has inherited; elsewhere there seem to be none. */
function processesOf(home: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        if (!environment.includes(`DEEDWIRE_HOME=${home}`)) return [];
        return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`];
      } catch {
        // It ended meanwhile.
        return [];
      }
    });
}
