import type { AccountId } from '@deedwire/domain';
import type { StoreUsage } from '../../postgres.ts';
import type { DeliveryContestant } from '../contestant.ts';
import type { ReceiverChild } from '../receiver-child.ts';
import { eventCount, type Workload } from '../workloads.ts';
import type { HeldEvents, OurSystem } from './our-system.ts';
import type { WorkerApp } from './worker-app.ts';

export interface OurContestantOptions {
  name: string;
  system: OurSystem;
  workers: readonly WorkerApp[];
  receiver: ReceiverChild;
  accounts: (workload: Workload) => readonly AccountId[];
  storeUsage: () => Promise<StoreUsage>;
}

/** Our engine as a contestant. The clock starts at the commit of all events, and stops when no delivery is pending. */
export function ourContestant(options: OurContestantOptions): DeliveryContestant {
  const { name, system, workers, receiver, accounts, storeUsage } = options;
  let prepared: { held: HeldEvents; deliveries: number; attempts: number } | null = null;

  async function cpuMs(): Promise<number> {
    const values = await Promise.all(workers.map(async (worker) => (await worker.usage()).cpuMs));
    return values.reduce((sum, value) => sum + value, 0);
  }

  return {
    name,
    async prepare(workload, deliveries) {
      const events = eventCount(workload, deliveries);
      const attempts = await system.countAttempts();
      const held = await system.holdEvents(accounts(workload), events);
      prepared = { held, attempts, deliveries: events * workload.subscriptionsPerAccount };
    },
    async drain() {
      if (prepared === null) throw new Error('Nothing is prepared.');
      const { held, deliveries, attempts } = prepared;
      prepared = null;
      const startCpuMs = await cpuMs();
      const startMs = performance.now();
      await held.release();
      await receiver.waitFor(deliveries);
      await system.untilSettled();
      const elapsedMs = performance.now() - startMs;
      const usedCpuMs = (await cpuMs()) - startCpuMs;
      const made = (await system.countAttempts()) - attempts;
      return { operations: deliveries, attempts: made, elapsedMs, cpuMs: usedCpuMs };
    },
    storeUsage,
  };
}
