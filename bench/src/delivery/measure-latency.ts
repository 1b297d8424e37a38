import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId } from '@deedwire/domain';
import { max, quantile } from 'simple-statistics';
import type { LatencySummary } from './latency-summary.ts';
import { paced } from './paced.ts';
import type { Stack } from './stack.ts';

const pollMs = 50;
const timeoutMs = 180_000;

interface LatencyPlan {
  /** Of each account. */
  events: number;
  perSecond: number;
}

/** Commits events of an account whose only subscription is a `/probe` receiver. */
export async function measureLatency(
  stack: Pick<Stack, 'system' | 'receiver'>,
  account: AccountId,
  plan: LatencyPlan,
): Promise<LatencySummary> {
  const [summary] = await measureLatencies(stack, [account], plan);
  if (summary === undefined) throw new Error('There is no latency.');
  return summary;
}

/** The same for several accounts at the same time. */
export async function measureLatencies(
  { system, receiver }: Pick<Stack, 'system' | 'receiver'>,
  accounts: readonly AccountId[],
  { events, perSecond }: LatencyPlan,
): Promise<LatencySummary[]> {
  await receiver.forget();
  const committedMs = new Map<string, number>();
  await Promise.all(
    accounts.map((account, number) =>
      paced(events, perSecond, async (index) => {
        const name = `probe-${number}-${index}`;
        committedMs.set(name, await system.commitEvent(account, name));
      }),
    ),
  );
  const expected = events * accounts.length;
  const deadline = performance.now() + timeoutMs;
  let { arrivals } = await receiver.report();
  while (arrivals.length < expected) {
    if (performance.now() > deadline) throw new Error(`Only ${arrivals.length} of ${expected} events arrived.`);
    await sleep(pollMs);
    ({ arrivals } = await receiver.report());
  }
  return accounts.map((_, number) => {
    const latencies = arrivals
      .filter(({ probe }) => probe.startsWith(`probe-${number}-`))
      .map(({ probe, atMs }) => atMs - (committedMs.get(probe) ?? Number.NaN));
    return {
      events,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      maxMs: max(latencies),
    };
  });
}
