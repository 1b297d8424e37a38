import { readdirSync, readFileSync } from 'node:fs';

// The unit of /proc/<pid>/stat, which the kernel interface fixes on all common platforms.
const ticksPerSecond = 100;

/** Linux only. Null if the process does not exist. */
export function processStat(pid: number) {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name of the program, in parentheses, can contain anything. Field 3, the state, follows it.
  const fields = line
    .slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parentPid = 0, userTicks = 0, systemTicks = 0, endedUserTicks = 0, endedSystemTicks = 0] = [
    fields[1],
    ...fields.slice(11, 15),
  ];
  const toMs = 1000 / ticksPerSecond;
  return {
    parentPid,
    cpuMs: (userTicks + systemTicks) * toMs,
    /** CPU time of its children that have ended. */
    endedChildrenCpuMs: (endedUserTicks + endedSystemTicks) * toMs,
  };
}

/** The CPU time of a server and of all its processes, as PostgreSQL has them. Null on platforms other than Linux. */
export function processFamilyCpuMs(pid: number): number | null {
  const server = processStat(pid);
  if (server === null) return null;
  const children = readdirSync('/proc')
    .map((entry) => (/^\d+$/.test(entry) ? processStat(Number(entry)) : null))
    .filter((stat) => stat?.parentPid === pid);
  return server.cpuMs + server.endedChildrenCpuMs + children.reduce((sum, stat) => sum + (stat?.cpuMs ?? 0), 0);
}
