import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { variableOf } from '@deedwire/core';
import { type InterfaceName, interfaceNames } from '@deedwire/core/test-service';
import { fastTemporaryFolder } from '@deedwire/embedded-postgres';
import { forTest } from '@deedwire/testing/for-file';
import { vi } from 'vitest';
import type { DevCaller, DevFile } from '../src/dev-file.ts';
import { workspaceRoot } from '../src/workspace.ts';

export interface DevProcess {
  child: ChildProcess;
  /** Everything that the process has printed so far. */
  output: () => string;
  /** Resolves with the exit code. Null if a signal ended the process. */
  ended: Promise<number | null>;
  /** Signals the process group, which this process leads. */
  signalGroup: (signal: NodeJS.Signals) => void;
}

export interface DevHome<File extends DevFile = ServiceFile> {
  path: string;
  /** Starts the process of `pnpm dev` on this home, optionally through another command. */
  start(env?: Record<string, string>, options?: StartOptions): DevProcess;
  /** Resolves with the content of `dev.json`. Rejects with the printed output if the process ends before that. */
  whenReady(dev: DevProcess): Promise<File>;
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

/** The service of a home. */
export interface DevService {
  interfaceNames: readonly string[];
  /** The value of `--service`. Omitted for the service that the repository deploys. */
  folder?: string;
}

type ServiceFile = DevFile & Readonly<Record<InterfaceName, DevCaller>>;

const testService: DevService = { interfaceNames, folder: join(workspaceRoot, 'tools/test-service') };

/** Variables with which several `pnpm dev` of a service run on one machine. */
export function freePorts(names: readonly string[]): Record<string, string> {
  const ofInterfaces = names.flatMap((name) => [`${variableOf(name)}_API_PORT`, `${variableOf(name)}_API_ADMIN_PORT`]);
  return Object.fromEntries([...ofInterfaces, 'WEBHOOK_WORKER_PORT', 'RECEIVER_PORT'].map((name) => [name, '0']));
}

/** Creates a home, which is removed when the test finishes. Defaults to one of the test service. */
export async function newDevHome(service: DevService = testService): Promise<DevHome> {
  const home = await forTest(createDevHome(service));
  return home;
}

/** As `newDevHome`, which is not removed. */
export async function createDevHome<File extends DevFile = ServiceFile>({
  interfaceNames: names,
  folder,
}: DevService = testService): Promise<DevHome<File>> {
  const path = await mkdtemp(join(await fastTemporaryFolder(), 'deedwire-test-'));
  const started: DevProcess[] = [];
  return {
    path,
    start(env = {}, options = {}) {
      const { commandArguments = [], launcher = [] } = options;
      const chosen = folder === undefined ? [] : ['--service', folder];
      const dev = startDev(
        { ...freePorts(names), ...env, DEEDWIRE_HOME: path },
        { commandArguments: [...chosen, ...commandArguments], launcher },
      );
      started.push(dev);
      return dev;
    },
    whenReady(dev) {
      const written = vi.waitFor(() => readDevFile<File>(path), { timeout: hangingMs, interval: 50 });
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

async function readDevFile<File extends DevFile>(home: string): Promise<File> {
  return JSON.parse(await readFile(join(home, 'dev.json'), 'utf8'));
}

function startDev(env: Record<string, string>, { commandArguments, launcher }: Required<StartOptions>): DevProcess {
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
