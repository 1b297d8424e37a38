import { failpoints, runUntilFailpoint } from './failpoints.ts';
import type { FaultSystem } from './fault-system.ts';

export interface KillsOptions {
  kills: number;
  /** Called after each kill. The next one waits. */
  onKill?: (kill: number, what: string) => Promise<void> | void;
}

// Some deliveries arrive between two kills, so that each one meets a working system.
const deliveriesBetweenKills = 25;
const passesMax = 10;
const apiPlaces = [null, 'flights', 'answer'] as const;

/**
 * Kills workers and APIs, at random and at failpoints or statements. Each is replaced. At every seventh one, a further worker joins instead
 * and leaves with requests in flight. Returns when the last one has been replaced.
 */
export async function killAtRandom(system: FaultSystem, { kills, onKill }: KillsOptions): Promise<void> {
  const { workers, apis, received, interruptions } = system;
  for (let kill = 1; kill <= kills; kill += 1) {
    await received.waitForMore(deliveriesBetweenKills);
    const what = kill % 7 === 0 ? 'hand-over' : kill % 5 === 2 ? 'API' : kill % 2 === 0 ? 'failpoint' : 'worker';
    if (what === 'hand-over') await joinAndLeave(system);
    else if (what === 'API') {
      const api = pick(apis);
      if (api !== undefined) await system.replaceApi(api, pick(apiPlaces) ?? null);
    } else if (what === 'failpoint') {
      await runUntilFailpoint(system, pick(failpoints) ?? '', Math.floor(Math.random() * passesMax));
    } else {
      const worker = pick(workers);
      if (worker === undefined) continue;
      await interruptions.during(worker, () => {
        worker.kill('SIGKILL');
        return worker.ended;
      });
      workers[workers.indexOf(worker)] = await system.addWorker();
    }
    await onKill?.(kill, what);
  }
}

async function joinAndLeave(system: FaultSystem): Promise<void> {
  const worker = await system.addWorker();
  await system.received.waitForMore(deliveriesBetweenKills);
  worker.kill('SIGTERM');
  const { exitCode } = await worker.ended;
  if (exitCode !== 0) throw new Error(`A worker that was asked to leave ended with ${exitCode}.`);
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
