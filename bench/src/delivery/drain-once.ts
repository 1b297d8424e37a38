import type { AccountId } from '@deedwire/domain';
import type { OurSystem } from './ours/our-system.ts';
import type { ReceiverChild } from './receiver-child.ts';

/**
 * Commits events that take turns over the accounts, and returns the deliveries per second until all are settled.
 *
 * @param stack.receiver null if the worker sends no requests
 */
export async function drainOnce(
  { system, receiver }: { system: OurSystem; receiver: ReceiverChild | null },
  accounts: readonly AccountId[],
  events: number,
  subscriptionsPerAccount: number,
): Promise<number> {
  const held = await system.holdEvents(accounts, Math.ceil(events));
  const deliveries = Math.ceil(events) * subscriptionsPerAccount;
  await receiver?.forget();
  const startMs = performance.now();
  await held.release();
  await receiver?.waitFor(deliveries);
  await system.untilSettled();
  return (deliveries / (performance.now() - startMs)) * 1000;
}
