import type { AccountId } from '@deedwire/core';
import type { BenchPostgres } from '../../postgres.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { DeliveryContestant } from '../rate-rounds.ts';
import type { Receivers } from '../receivers.ts';
import { eventCount, firstReceiver, inGroups, subscriptionCount, workloads } from '../workloads.ts';
import { createOurSystem } from './our-system.ts';

export interface OursOptions {
  name: string;
  database?: string;
  /** Variables of the worker that differ from the defaults. */
  env?: Readonly<Record<string, string>>;
}

/**
 * Starts our engine with one worker and its own database, as a contestant of all workloads. The clock starts at the commit
 * of all events, and stops when no delivery is pending.
 */
export async function startOurs(
  { postgres, receiver, defer }: { postgres: BenchPostgres; receiver: Receivers; defer: Defer },
  { name, database = 'ours', env = {} }: OursOptions,
): Promise<DeliveryContestant> {
  const system = await createOurSystem(postgres, database, defer);
  const accounts = new Map<string, AccountId[]>();
  for (const workload of workloads) {
    const first = firstReceiver(workload);
    // Each subscription has a separate receiver.
    const origins = receiver.origins.slice(first, first + subscriptionCount(workload));
    const urls = origins.map((origin) => `${origin}/hooks`);
    accounts.set(workload.name, await system.addAccounts(inGroups(urls, workload.subscriptionsPerAccount)));
  }
  const worker = await system.startWorker({ env });
  let prepared: { release: () => Promise<void>; deliveries: number; attempts: number } | null = null;
  return {
    name,
    async prepare(workload, deliveries) {
      const events = eventCount(workload, deliveries);
      const attempts = await system.countAttempts();
      const release = await system.holdEvents(accounts.get(workload.name) ?? [], events);
      prepared = { release, attempts, deliveries: events * workload.subscriptionsPerAccount };
    },
    async drain() {
      if (prepared === null) throw new Error('Nothing is prepared.');
      const { release, deliveries, attempts } = prepared;
      prepared = null;
      const startCpuMs = (await worker.usage()).cpuMs;
      const startMs = performance.now();
      await release();
      await receiver.waitFor(deliveries);
      await system.untilSettled();
      const elapsedMs = performance.now() - startMs;
      const cpuMs = (await worker.usage()).cpuMs - startCpuMs;
      return { operations: deliveries, attempts: (await system.countAttempts()) - attempts, elapsedMs, cpuMs };
    },
    storeUsage: () => postgres.usage(),
  };
}
