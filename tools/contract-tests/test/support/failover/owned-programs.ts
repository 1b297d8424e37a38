import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fastTemporaryFolder, ownDataDirectory, spawnAsOwner } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';

/** A folder, and programs that run as its owner. PostgreSQL does not run as root. */
export interface OwnedFolder {
  path: string;
  /**
   * Starts a program that goes on until it is ended.
   *
   * @param name of its log, whose end is part of the errors
   */
  start(name: string, program: string, args: readonly string[]): Promise<ChildProcess>;
  /** Runs a program, and resolves with its output. Rejects if it does not exit with 0. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** The end of the logs. */
  logs(): Promise<string>;
  remove(): Promise<void>;
}

export async function createOwnedFolder(prefix: string): Promise<OwnedFolder> {
  const path = await mkdtemp(join(await fastTemporaryFolder(), prefix));
  await ownDataDirectory(path);
  return {
    path,
    async start(name, program, args) {
      const log = await open(join(path, `${name}.log`), 'a');
      const child = await spawnAsOwner(path, program, args, { cwd: path, stdio: ['ignore', log.fd, log.fd] });
      await log.close();
      return child;
    },
    async run(program, args, env = {}) {
      const child = await spawnAsOwner(path, program, args, {
        cwd: path,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const chunks: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
      const [code]: (number | null)[] = await once(child, 'close');
      const output = Buffer.concat(chunks).toString();
      if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${output}`);
      return output;
    },
    async logs() {
      const names = (await readdir(path)).filter((name) => name.endsWith('.log'));
      const ends = names.map(
        async (name) => `${name}:\n${(await readFile(join(path, name), 'utf8')).split('\n').slice(-25).join('\n')}`,
      );
      return (await Promise.all(ends)).join('\n');
    },
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 10 }),
  };
}

/** The processes of a PostgreSQL server, its postmaster first. Empty if none runs. */
export async function processesOfServer(dataDirectory: string): Promise<number[]> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
  const postmaster = Number(text.split('\n')[0]);
  if (!(postmaster > 0)) return [];
  const parents = await parentsOfProcesses();
  if (!parents.has(postmaster)) return [];
  return [postmaster, ...[...parents].filter(([, parent]) => parent === postmaster).map(([pid]) => pid)];
}

/** Kills processes without warning, as the loss of their machine does, and resolves once they are gone. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  await eventually(async () => {
    const running = await parentsOfProcesses();
    expect(pids.filter((pid) => running.has(pid))).toEqual([]);
  });
}

/** Process → its parent, without those that have ended and were not awaited. */
async function parentsOfProcesses(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name of the program, in parentheses, can contain anything.
    const [state = 'Z', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (state !== 'Z') parents.set(pid, Number(parent));
  }
  return parents;
}
