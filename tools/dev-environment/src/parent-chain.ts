import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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
 * Calls `onEnd` when a process that started this one ends. `npx` and the package manager do not forward signals, and each
 * can be killed separately. Therefore every process between this one and the one that ran `npx` or `pnpm` is watched.
 */
export async function watchParents(onEnd: () => void): Promise<void> {
  const chain = await launchChain(process.pid, readProcess);
  const poll = setInterval(() => void checkChain(), pollMs);
  poll.unref();
  async function checkChain(): Promise<void> {
    const unchanged = await Promise.all(
      chain.map(async ({ pid, parentPid }) => (await readProcess(pid))?.parentPid === parentPid),
    );
    if (!unchanged.includes(false)) return;
    clearInterval(poll);
    onEnd();
  }
}

/** The processes from this one up to the topmost `npx` or package manager. The parent of the last one ran the command. */
export async function launchChain(ownPid: number, read: ReadProcess): Promise<Ancestor[]> {
  const chain: Ancestor[] = [];
  let length = 1;
  for (let link = await read(ownPid); link && link.pid > 1; link = await read(link.parentPid)) {
    chain.push(link);
    if (/\b(npm|npx|pnpm|corepack)\b/.test(link.command)) length = chain.length;
  }
  return chain.slice(0, length);
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
