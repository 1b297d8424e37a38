import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Ancestor {
  pid: number;
  parentPid: number;
  command: string;
}

/** Null: there is no such process any more. */
export type ReadProcess = (pid: number) => Promise<Ancestor | null>;

const pollMs = 2_000;

/**
 * Calls `onEnd` when what started this process is gone. `npx` and the package manager hand no signal down, and each may
 * be killed alone, so every process between this one and the one that ran `npx` or `pnpm` is watched.
 */
export async function watchParents(onEnd: () => void): Promise<void> {
  const chain = await launchChain(process.pid, readProcess);
  const poll = setInterval(() => void look(), pollMs);
  poll.unref();
  async function look(): Promise<void> {
    const stands = await Promise.all(
      chain.map(async ({ pid, parentPid }) => (await readProcess(pid))?.parentPid === parentPid),
    );
    if (!stands.includes(false)) return;
    clearInterval(poll);
    onEnd();
  }
}

/** From this process up to the topmost package manager or `npx`, whose own parent is the one that ran the command. */
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

/** Not every Linux image has `ps`. */
async function readFromProc(pid: number): Promise<Ancestor> {
  const [status, command] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ]);
  // `pid (name) state ppid …`; a name may hold anything.
  const parentPid = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  return { pid, parentPid, command: command.replaceAll('\0', ' ') };
}

async function readFromPs(pid: number): Promise<Ancestor> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)]);
  const [parentPid = '', ...command] = stdout.trim().split(/\s+/);
  return { pid, parentPid: Number(parentPid), command: command.join(' ') };
}
