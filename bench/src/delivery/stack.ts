import type { AccountId } from '@deedwire/core';
import { startBenchPostgres, type BenchPostgres } from '../postgres.ts';
import { type Defer, withCleanup } from '../with-cleanup.ts';
import { createOurSystem, type OurSystem } from './ours/our-system.ts';
import { startReceivers, type Receivers } from './receivers.ts';

export interface Stack {
  postgres: BenchPostgres;
  receiver: Receivers;
  system: OurSystem;
}

/** Starts PostgreSQL and the receivers, and stops them and what `work` deferred after it. */
export async function withServers<Result>(
  receivers: number,
  work: (servers: Omit<Stack, 'system'>, defer: Defer) => Promise<Result>,
): Promise<Result> {
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres(defer);
    return work({ postgres, receiver: await startReceivers(receivers, defer) }, defer);
  });
}

/** The same with our engine, which has no worker at first. */
export async function withStack<Result>(
  receivers: number,
  work: (stack: Stack, defer: Defer) => Promise<Result>,
): Promise<Result> {
  return withServers(receivers, async (servers, defer) =>
    work({ ...servers, system: await createOurSystem(servers.postgres, 'ours', defer) }, defer),
  );
}

/**
 * Commits events that take turns over the accounts, and returns the deliveries per second until all are settled.
 *
 * @param stack.receiver null if the worker sends no requests
 */
export async function drainOnce(
  { system, receiver }: { system: OurSystem; receiver: Receivers | null },
  accounts: readonly AccountId[],
  events: number,
  subscriptionsPerAccount = 1,
): Promise<number> {
  const release = await system.holdEvents(accounts, Math.ceil(events));
  const deliveries = Math.ceil(events) * subscriptionsPerAccount;
  await receiver?.forget();
  const startMs = performance.now();
  await release();
  await receiver?.waitFor(deliveries);
  await system.untilSettled();
  return (deliveries / (performance.now() - startMs)) * 1000;
}
