import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fastTemporaryFolder } from '@deedwire/embedded-postgres';
import { forTest } from '@deedwire/testing/for-file';
import { vi } from 'vitest';
import type { DevFile } from '../src/dev-file.ts';

export interface DevProcess {
  child: ChildProcess;
  /** Everything that the process has printed so far. */
  output: () => string;
  /** Resolves with the exit code. Null if a signal ended the process. */
  ended: Promise<number | null>;
  /** Signals the process group, which this process leads. */
  signalGroup: (signal: NodeJS.Signals) => void;
}

export interface DevHome {
  path: string;
  /** Starts the process of `pnpm dev` on this home, optionally through another command. */
  start(env?: Record<string, string>, options?: StartOptions): DevProcess;
  /** Resolves with the content of `dev.json`. Rejects with the printed output if the process ends before that. */
  whenReady(dev: DevProcess): Promise<DevFile>;
  /** All processes that inherited the environment of `pnpm dev`: the apps, the guard and PostgreSQL. */
  processes(): string[];
  /** Kills the processes and removes the folder. */
  remove(): Promise<void>;
}

export interface StartOptions {
  /** Defaults to `[]`. */
  commandArguments?: readonly string[];
  /** A command that runs the rest of its arguments. Defaults to none. */
  launcher?: readonly string[];
}

// Guard against hanging only.
const hangingMs = 240_000;
const devMain = join(import.meta.dirname, '../src/dev.ts');
/** Variables with which several `pnpm dev` run on one machine. */
export const freePorts = {
  LENDER_API_PORT: '0',
  PARTNER_API_PORT: '0',
  LENDER_API_ADMIN_PORT: '0',
  PARTNER_API_ADMIN_PORT: '0',
  WEBHOOK_WORKER_PORT: '0',
  RECEIVER_PORT: '0',
};

/** Creates a home, which is removed when the test finishes. */
export async function newDevHome(): Promise<DevHome> {
  const home = await forTest(createDevHome());
  return home;
}

export async function createDevHome(): Promise<DevHome> {
  const path = await mkdtemp(join(await fastTemporaryFolder(), 'deedwire-test-'));
  const started: DevProcess[] = [];
  return {
    path,
    start(env = {}, options = {}) {
      const dev = startDev({ ...freePorts, ...env, DEEDWIRE_HOME: path }, options);
      started.push(dev);
      return dev;
    },
    whenReady(dev) {
      const written = vi.waitFor(() => readDevFile(path), { timeout: hangingMs, interval: 50 });
      const ended = dev.ended.then(() => Promise.reject(new Error(`pnpm dev ended:\n${dev.output()}`)));
      return Promise.race([written, ended]);
    },
    processes: () => processesOf(path),
    async remove() {
      for (const { child, signalGroup, ended } of started) {
        if (child.exitCode === null && child.signalCode === null) signalGroup('SIGKILL');
        await ended;
      }
      await vi.waitUntil(() => processesOf(path).length === 0, { timeout: hangingMs, interval: 100 });
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function readDevFile(home: string): Promise<DevFile> {
  return JSON.parse(await readFile(join(home, 'dev.json'), 'utf8'));
}

function startDev(env: Record<string, string>, { commandArguments = [], launcher = [] }: StartOptions): DevProcess {
  const node = [process.execPath, '--conditions=deedwire-source', devMain];
  const [program = '', ...programArguments] = [...launcher, ...node, ...commandArguments];
  const child = spawn(program, programArguments, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'exit').then(() => child.exitCode);
  return { child, output: () => output, ended, signalGroup: (signal) => process.kill(-(child.pid ?? 0), signal) };
}

/** Only Linux reports the environment of other processes. On other systems the list is empty. */
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
        // The process has ended in the meantime.
        return [];
      }
    });
}
