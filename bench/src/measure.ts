/** One round of one contestant. */
export interface Measurement {
  operations: number;
  elapsedMs: number;
  /** User and system time of the contestant's process. */
  cpuMs: number;
}

/** Measures `work` in this process. `work` returns the number of completed operations. */
export async function measure(work: () => Promise<number>): Promise<Measurement> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const operations = await work();
  const { user, system } = process.cpuUsage(startCpu);
  return { operations, elapsedMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}
