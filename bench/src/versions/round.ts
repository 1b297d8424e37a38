import { setTimeout as sleep } from 'node:timers/promises';
import type { DeedwireService } from '../checkout/deedwire-service.ts';
import { difference, type Done } from '../rounds.ts';
import type { CheckoutRound } from './compare.ts';

/** After the last arrival, a worker records its results. */
const settleMs = 1_000;

/** Measures `work`, which returns when its last webhook has arrived, and the CPU time until the results are recorded. */
export async function measureRound(service: DeedwireService, work: () => Promise<Done>): Promise<CheckoutRound> {
  const before = await service.cpuOfProcesses();
  const done = await work();
  await sleep(settleMs);
  const after = await service.cpuOfProcesses();
  const cpuMs = {
    api: after.api - before.api,
    worker: after.worker - before.worker,
    postgres: difference(after.postgres, before.postgres),
  };
  return { ...done, cpuMs };
}
