import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

export interface Ancestor {
  pid: number;
  parentPid: number;
  command: string;
}

/** Null if the process does not exist. */
export type ReadProcess = (pid: number) => Promise<Ancestor | null>;

const pollMs = 2_000;

/**
 * Calls `onEnd` when a process that started this one ends, with its name and id. `npx` and the package manager do not forward signals,
 * and each can be killed separately. Therefore every process between this one and the one that ran `npx` or `pnpm` is watched.
 */
export async function watchParents(onEnd: (ended: string) => void): Promise<void> {
  const chain = await launchChain(process.pid, readProcess);
  const parents = await Promise.all(chain.map(async ({ parentPid }) => readProcess(parentPid)));
  const poll = setInterval(() => void checkChain(), pollMs);
  poll.unref();
  async function checkChain(): Promise<void> {
    const now = await Promise.all(chain.map(async ({ pid }) => readProcess(pid)));
    const index = chain.findIndex(({ parentPid }, link) => now[link]?.parentPid !== parentPid);
    if (index === -1) return;
    clearInterval(poll);
    onEnd(`${nameOf(parents[index])} (${chain[index]?.parentPid})`);
  }
}

/** Without its arguments, which can contain secrets. */
function nameOf(parent: Ancestor | null | undefined): string {
  return basename(parent?.command.split(' ')[0] ?? 'a process');
}

/**
 * The processes from this one up to the topmost `npx` or package manager, between which are only shells. The parent of the last one ran
 * the command.
 */
export async function launchChain(ownPid: number, read: ReadProcess): Promise<Ancestor[]> {
  const chain: Ancestor[] = [];
  let length = 1;
  for (let link = await read(ownPid); link && link.pid > 1; link = await read(link.parentPid)) {
    chain.push(link);
    if (isLauncher(link)) length = chain.length;
    else if (chain.length > length + 1) break;
  }
  return chain.slice(0, length);
}

/** A shell can name them in its script. */
function isLauncher({ command }: Ancestor): boolean {
  return /\b(npm|npx|pnpm|corepack)\b/.test(command) && !/^\S*sh /.test(command);
}

async function readProcess(pid: number): Promise<Ancestor | null> {
  try {
    return process.platform === 'linux' ? await readFromProc(pid) : await readFromPs(pid);
  } catch {
    return null;
  }
}

/** Some Linux images have no `ps`. */
async function readFromProc(pid: number): Promise<Ancestor> {
  const [status, command] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ]);
  // `pid (name) state ppid …`. The name can contain spaces and parentheses.
  const parentPid = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  return { pid, parentPid, command: command.replaceAll('\0', ' ') };
}

async function readFromPs(pid: number): Promise<Ancestor> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)]);
  const [parentPid = '', ...command] = stdout.trim().split(/\s+/);
  return { pid, parentPid: Number(parentPid), command: command.join(' ') };
}
