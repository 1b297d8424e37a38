import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { DevFile } from '../src/dev-file.ts';

export interface DevProcess {
  child: ChildProcess;
  /** Everything that it has printed. */
  output: () => string;
  /** Resolves with the exit code, null when a signal ended it. */
  ended: Promise<number | null>;
}

const devMain = join(import.meta.dirname, '../src/dev.ts');
const freePorts = { LENDER_API_PORT: '0', PARTNER_API_PORT: '0', WEBHOOK_WORKER_PORT: '0' };

/** Starts `pnpm dev`'s process as the leader of a group of its own, optionally through another command. */
export function startDev(home: string, env: Record<string, string> = {}, launcher: readonly string[] = []): DevProcess {
  const command = [process.execPath, '--conditions=deedwire-source', devMain];
  const [program = '', ...programArguments] = [...launcher, ...command];
  const child = spawn(program, programArguments, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // oxlint-disable-next-line node/no-process-env -- PATH and the like
    env: { ...process.env, ...freePorts, ...env, DEEDWIRE_HOME: home },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'exit').then(() => child.exitCode);
  return { child, output: () => output, ended };
}

/** What `dev.json` says once everything is ready. Rejects, with what was printed, when it is not written. */
export async function whenReady(dev: DevProcess, home: string): Promise<DevFile> {
  const read = async (): Promise<DevFile> => JSON.parse(await readFile(join(home, 'dev.json'), 'utf8'));
  const gone = dev.ended.then(() => Promise.reject(new Error(`It ended:\n${dev.output()}`)));
  return Promise.race([vi.waitFor(read, { timeout: 30_000, interval: 50 }), gone]);
}

/** The processes that belong to this home, by what they inherited: the apps, the guard, all of PostgreSQL. */
export function processesOf(home: string): string[] {
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
