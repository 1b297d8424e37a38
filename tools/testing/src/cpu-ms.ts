/** Milliseconds of CPU time of this thread in `run`: what other processes take meanwhile does not count. */
export function cpuMsOf(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
