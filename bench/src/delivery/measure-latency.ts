import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@deedwire/domain';
import { percentile } from '../percentile.ts';
import type { LatencySummary } from './latency-summary.ts';
import { paced } from './paced.ts';
import type { Stack } from './stack.ts';

const pollMs = 50;
const timeoutMs = 180_000;

/** Commits events of an account whose only subscription is a `/probe` receiver. */
export async function measureLatency(
  { system, receiver }: Pick<Stack, 'system' | 'receiver'>,
  account: AccountId,
  { events, perSecond }: { events: number; perSecond: number },
): Promise<LatencySummary> {
  await receiver.forget();
  const committedMs = new Map<string, number>();
  await paced(events, perSecond, async (index) => {
    const name = `probe-${index}`;
    committedMs.set(name, await system.commitEvent(account, name));
  });
  const deadline = performance.now() + timeoutMs;
  let { arrivals } = await receiver.report();
  while (arrivals.length < events) {
    if (performance.now() > deadline) throw new Error(`Only ${arrivals.length} of ${events} events arrived.`);
    await sleep(pollMs);
    ({ arrivals } = await receiver.report());
  }
  const latencies = arrivals.map(({ probe, atMs }) => atMs - (committedMs.get(probe) ?? Number.NaN));
  return {
    events,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
  };
}
