import { setTimeout as sleep } from 'node:timers/promises';

/** Called with what the work has done so far, for example `Read 12,000 events`. */
export type OnProgress = (done: string) => void;

/** Leaves the database to others for three quarters of the time. */
export async function unhurried<Result>(work: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  const result = await work();
  await sleep(3 * (performance.now() - startMs));
  return result;
}
