import { setTimeout as sleep } from 'node:timers/promises';
import { machineMs } from '../child.ts';
import { accountCount, type Contestant } from './contestant.ts';
import type { Ledger } from './ledger.ts';

export type Arrivals = ReturnType<typeof startArrivals>;

/** Without a rate, this many commits run at a time. */
const committers = 32;

/**
 * Commits events of all accounts until it is stopped.
 *
 * @param perSecond whether or not the commits before have returned. Null: as many as possible
 */
export function startArrivals(contestant: Contestant, ledger: Ledger, perSecond: number | null) {
  const run = Math.round(machineMs());
  const running = new Set<Promise<void>>();
  let index = 0;
  let isStopped = false;
  let rate = perSecond;
  const commitNext = (): void => {
    index += 1;
    const name = `bench-${run}-${index}`;
    const account = index % accountCount;
    const ended = ledger.enter([name], () => contestant.commit(account, name)).finally(() => running.delete(ended));
    running.add(ended);
  };
  const produce = async (): Promise<void> => {
    let dueMs = performance.now();
    while (!isStopped) {
      if (rate === null) {
        commitNext();
        if (running.size >= committers) await Promise.race(running);
        dueMs = performance.now();
      } else {
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        commitNext();
        dueMs += 1000 / rate;
      }
    }
  };
  const producing = produce();
  return {
    /** As many as possible, or as many as before. */
    setMaximum(isMaximum: boolean): void {
      rate = isMaximum ? null : perSecond;
    },
    /** Resolves when each commit has returned. */
    async stop(): Promise<void> {
      isStopped = true;
      await producing;
      await Promise.all(running);
    },
  };
}
