import { spawnSync } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Prepares a data directory for a start. Stops a server that still runs on it because its guard was killed, and removes
 * a stale `postmaster.pid`: if another program now has this process id, PostgreSQL would take it for a running server.
 * The caller must have exclusive use of the directory.
 */
export async function clearStaleServer(dataDirectory: string): Promise<void> {
  const pid = Number((await readPostmasterFile(dataDirectory))[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!(await isServerOf(dataDirectory, pid))) break;
    process.kill(pid, signal);
    for (let waits = 0; waits < 250 && (await isServerOf(dataDirectory, pid)); waits += 1) await sleep(20);
  }
  await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
}

/** Returns true once the server accepts connections, which is line 8 of its `postmaster.pid`. */
export async function isReady(dataDirectory: string, pid: number): Promise<boolean> {
  const lines = await readPostmasterFile(dataDirectory);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** Its lines. Empty if there is no such file. */
async function readPostmasterFile(dataDirectory: string): Promise<string[]> {
  try {
    return (await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function isServerOf(dataDirectory: string, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    // The working directory of a server is its data directory.
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    return workingDirectory === (await realpath(dataDirectory));
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.includes('postgres') && stdout.includes(dataDirectory);
}
